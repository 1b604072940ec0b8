"""What every other folder may use: texts, tokens, one flight for many, one value per event loop, retries."""
