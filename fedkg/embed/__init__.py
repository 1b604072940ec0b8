"""Texts compared by meaning: embedders, their similarity, and indexes of labels."""
