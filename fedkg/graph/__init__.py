"""Graphs behind endpoints: neighbourhoods, names and re-asked edges, whatever serves them."""
