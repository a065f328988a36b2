"""The pages of the games app, by subject. Every action is a POST that answers with what is then."""
