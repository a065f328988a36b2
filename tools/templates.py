"""The rules that keep pages within the content security policy, and sentences translatable.

`python -m tools.templates` reads the project's templates, scripts and Python files and prints
each line that breaks a rule.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
APPS = ("basra_site", "games", "accounts")

GETTEXT = {
    "_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext",
    "pgettext_lazy", "npgettext", "npgettext_lazy",
}  # fmt: skip
POSITIONAL = re.compile(r"%[sdrif]|\{\d*\}")

# In a template, outside its comments: what is forbidden, and why.
FORBIDDEN: dict[str, re.Pattern[str]] = {
    "style= (the policy ignores it)": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "<style> (the policy ignores it)": re.compile(r"<style\b", re.IGNORECASE),
    "an event attribute (the policy ignores it)": re.compile(
        r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE
    ),
    "hx-on (needs unsafe-eval)": re.compile(r"\shx-on[:\w-]*\s*=", re.IGNORECASE),
    "a filter in hx-trigger (needs unsafe-eval)": re.compile(
        r"""\shx-trigger[:\w]*\s*=\s*(?:"[^"]*\[|'[^']*\[)""", re.IGNORECASE
    ),
    "js: (needs unsafe-eval)": re.compile(r"""=\s*["']?\s*(?:js|javascript):""", re.IGNORECASE),
    "|safe (what is shown is escaped)": re.compile(r"\|\s*safe\b"),
    "autoescape off (what is shown is escaped)": re.compile(r"\{%\s*autoescape\s+off"),
    "a positional placeholder (translators move words)": re.compile(
        r"\{%\s*(?:translate|trans)\s+(?:\"[^\"]*%[sd]|'[^']*%[sd])"
    ),
}
SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]*)>", re.IGNORECASE)
HARMLESS_SCRIPT = re.compile(
    r"""\bsrc\s*=|\btype\s*=\s*["']?application/(?:ld\+)?json\b""", re.IGNORECASE
)
COMMENT = re.compile(
    r"\{#.*?#\}|\{%\s*comment\b.*?%\}.*?\{%\s*endcomment\s*%\}|<!--.*?-->", re.DOTALL
)


class Problem(NamedTuple):
    """One line that breaks a rule."""

    line: int
    rule: str


def template_problems(text: str) -> list[Problem]:
    """Return what is wrong with a template."""
    # Blank, but as long and with as many lines as before.
    text = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    found = [
        Problem(_line(text, match.start()), rule)
        for rule, pattern in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]
    found += [
        Problem(_line(text, match.start()), "an inline script (the policy ignores it)")
        for match in SCRIPT.finditer(text)
        if not HARMLESS_SCRIPT.search(match["attributes"])
    ]
    return sorted(found)


def python_problems(text: str) -> list[Problem]:
    """Return what is wrong with a Python file: sentences no translator can use, `mark_safe`."""
    return sorted(_python_problems(ast.parse(text)))


def _python_problems(tree: ast.Module) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(n.name == "mark_safe" for n in node.names):
            yield Problem(node.lineno, "mark_safe (use format_html)")
        if not isinstance(node, ast.Call) or _name(node.func) not in GETTEXT:
            continue
        for argument in node.args:
            if isinstance(argument, ast.JoinedStr):
                yield Problem(node.lineno, "an f-string in gettext (it is never found)")
            elif (
                isinstance(argument, ast.Constant)
                and isinstance(argument.value, str)
                and POSITIONAL.search(argument.value.replace("%%", ""))
            ):
                yield Problem(node.lineno, "a positional placeholder (translators move words)")


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def main() -> int:
    """Print every problem; return 1 if there is one."""
    count = 0
    for path in sorted(ROOT.glob("templates/**/*")):
        if path.is_file():
            count += _report(path, template_problems(path.read_text(encoding="utf-8")))
    for app in APPS:
        for path in sorted((ROOT / app).glob("**/*.py")):
            count += _report(path, python_problems(path.read_text(encoding="utf-8")))
    return 1 if count else 0


def _report(path: Path, problems: list[Problem]) -> int:
    for problem in problems:
        print(f"{path.relative_to(ROOT)}:{problem.line}: {problem.rule}")
    return len(problems)


if __name__ == "__main__":
    sys.exit(main())
