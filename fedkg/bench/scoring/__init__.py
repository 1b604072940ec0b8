"""How good the records are: scores, summaries, comparisons, error classes."""
