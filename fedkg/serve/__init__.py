"""fedkg over HTTP: the questions of a session asked by others, within limits."""
