"""Which next steps are looked at first: the retrievers, found by name in `registry`."""
