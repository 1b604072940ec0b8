"""Where the questions come from: definitions, files, loaders, formats."""
