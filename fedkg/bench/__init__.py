"""Benchmarks: question sets, scorers and the runner."""
