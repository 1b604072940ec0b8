"""What models are trained with: shortest paths and examples."""
