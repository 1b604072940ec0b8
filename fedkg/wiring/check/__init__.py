"""The check of an endpoint: what is looked at, one finding after the other, and the profile that follows from it."""
