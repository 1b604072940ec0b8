"""Benchmarks: questions, runs, scores and reports."""
