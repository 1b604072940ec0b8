"""Methods: each is a small search over the steps, a state machine without I/O."""
