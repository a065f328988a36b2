"""The site around the game: settings, addresses, health, logs and how it is run."""
