"""The documents that people read first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_readme_leads_with_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme.index("make play") < readme.index("make test") < 300
