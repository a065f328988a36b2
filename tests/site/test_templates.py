"""The template rules: one failing example each, and the project keeps them all."""

from __future__ import annotations

import pytest

from tools import templates

WRONG = [
    '<p style="color: red">',
    "<P\n  STYLE = 'color: red'>",
    "<style>p { color: red }</style>",
    '<button onclick="play()">',
    '<button hx-on:click="play()">',
    '<button hx-on::after-request="play()">',
    "<div hx-trigger=\"click[event.key == 'a']\">",
    "<div hx-trigger='every 2s [visible]'>",
    "<div hx-vals='js:{now: Date.now()}'>",
    '<a href="javascript:play()">',
    "{{ name|safe }}",
    "{{ name | safe }}",
    "{% autoescape off %}",
    '{% translate "%s played" %}',
    "<script>play()</script>",
    '<script nonce="{{ csp_nonce }}">play()</script>',
]
RIGHT = [
    "<p data-style='red' class=\"style\">",
    '<script src="{% static "js/table.js" %}" defer></script>',
    '<script type="application/json" id="words">{}</script>',
    '<div hx-trigger="every 2s, turn from:body">',
    '{% translate "%(name)s played" %}',
    "{# <p style='color: red'> #}",
    "{% comment %}\n<style>\n{% endcomment %}",
    "{{ name|safely }}",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_template_that_breaks_a_rule_is_found(text: str) -> None:
    problems = templates.template_problems(f"<!doctype html>\n{text}")
    assert problems
    assert {problem.line for problem in problems} <= {2, 3}


@pytest.mark.parametrize("text", RIGHT)
def test_a_template_that_keeps_the_rules_is_not(text: str) -> None:
    assert templates.template_problems(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'gettext(f"{name} played")',
        '_("%s played")',
        '_("{} played")',
        'ngettext("%d card", "%d cards", count)',
        "from django.utils.safestring import mark_safe",
    ],
)
def test_a_sentence_that_cannot_be_translated_is_found(text: str) -> None:
    assert len(templates.python_problems(text)) >= 1


@pytest.mark.parametrize(
    "text",
    ['_("%(name)s played")', '_("{name} played")', '_("100%% sure")', 'format("%s", name)'],
)
def test_a_sentence_with_named_placeholders_is_not(text: str) -> None:
    assert templates.python_problems(text) == []


def test_the_project_keeps_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    code = templates.main()
    assert capsys.readouterr().out == ""
    assert code == 0
