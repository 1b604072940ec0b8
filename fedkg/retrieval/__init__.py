"""Which next steps are looked at first: the retrievers."""
