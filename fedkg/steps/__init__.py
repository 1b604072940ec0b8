"""The steps of a walk: each takes protocols and exchanges records only."""
