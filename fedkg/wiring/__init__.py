"""The only place that puts adapters together from settings."""
