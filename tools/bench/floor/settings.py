"""The site's own settings; only the addresses are others."""

from basra_site.settings import *  # noqa: F403 - all of them is what is meant

ROOT_URLCONF = "tools.bench.floor.urls"
