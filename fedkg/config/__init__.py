"""What a person sets: settings, endpoint profiles, what -e names, and where the bundled data lie."""
