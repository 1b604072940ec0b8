"""Similarity of texts: dense embeddings, kept once made, or BM25."""
