"""What the engine does for each kind of need: one function for each, grouped by theme."""
