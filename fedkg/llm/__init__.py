"""Chat models: messages and a schema go in, a validated reply with its usage comes out."""
