"""What fedkg can be extended by, one module each."""
