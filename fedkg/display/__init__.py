"""Records as notebooks show them: answers, paths, neighbourhoods and comparisons as HTML, tables and progress."""
