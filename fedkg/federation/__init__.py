"""Several endpoints as one graph."""
