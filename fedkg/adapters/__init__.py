"""fedkg as a part of other frameworks: retrievers and tools, each in a module that needs an extra."""
