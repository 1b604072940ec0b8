"""Transports: how a query's text reaches an endpoint and its reply comes back."""
