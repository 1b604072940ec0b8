"""The prompts: found, checked, rendered, and fitted into what a model takes."""
