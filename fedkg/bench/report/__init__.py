"""Records as pages: tables, plots, the questions to browse."""
