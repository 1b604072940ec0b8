"""How an answer is searched for: one file a method, each a generator that does no I/O."""
