# `make play` and `make test` are all a newcomer needs. docs/contributing.md tells of the rest.

PYTHON := .venv/bin/python
# Brings what is needed and does nothing when it is there.
BOOTSTRAP = python=$$(sh tools/find_python) && "$$python" tools/bootstrap.py

.PHONY: play test check fmt bench pins clean

# Play against the computer in the browser. PORT=8001 for another port; HOST=0.0.0.0 to let
# others on the same network in.
play:
	@$(BOOTSTRAP)
	@exec $(PYTHON) -m tools.play

# The whole suite, on SQLite and on PostgreSQL. ARGS="tests/games -k deal" for a part.
test:
	@$(BOOTSTRAP) --dev
	@$(PYTHON) -m tools.test $(ARGS)

# Everything but the tests: style, types, who imports whom, settings, migrations, templates.
check:
	@$(BOOTSTRAP) --dev
	@$(PYTHON) -m tools.check

# Write everything in the project's style.
fmt:
	@$(BOOTSTRAP) --dev
	@$(PYTHON) -m tools.check --fix

# Measure; see docs/contributing.md.
bench:
	@$(BOOTSTRAP) --dev
	@$(PYTHON) -m tools.bench $(ARGS)

# Compile the pinned requirements anew after a change to requirements*.in.
pins:
	@$(BOOTSTRAP) --pins

# Remove everything the commands made: the environment, the games, the keys.
clean:
	rm -rf .venv var .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
