"""fedkg for agents: the questions of a session as tools of the Model Context Protocol."""
