"""The rules page: what it shows is what the engine does."""

from __future__ import annotations

import pytest

from games import engine, wording
from games.engine import Kind, RuleSet
from games.examples import EXAMPLES
from tests import cast

pytestmark = pytest.mark.django_db

# The komi's own test and what a jack basra counts differ between the rule sets, not these answers.
BASRAS = {
    "numerals": [Kind.NONE] * 4,
    "choice": [Kind.NONE] * 2,
    "ten": [Kind.BASRA],
    "five": [Kind.BASRA],
    "jack": [Kind.JACK],
    "komi": [Kind.BASRA],
    "sweep": [Kind.NONE],
}


@pytest.mark.parametrize("rules", engine.RULE_SETS.values(), ids=lambda rules: rules.name)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_holds_in_every_rule_set(name: str, rules: RuleSet) -> None:
    example = EXAMPLES[name]
    for play, kind in zip(example.plays, BASRAS[name], strict=True):
        answers = engine.captures(rules, example.floor, play.card)
        (answer,) = [one for one in answers if set(one.cards) == set(play.takes)]
        assert answer.kind is kind
    first = example.plays[0]
    proposed = engine.captures(rules, example.floor, first.card)[0]
    assert set(proposed.cards) == set(first.takes)


def test_the_page_shows_every_example_and_every_rule_set() -> None:
    page = cast.text_of(cast.look(cast.browser_of(), "rules"))
    for example in EXAMPLES.values():
        for play in example.plays:
            assert str(play.sentence) in page
    for name in engine.RULE_SETS:
        assert str(wording.RULE_SET_DIFFERENCES[name]) in page


def test_a_rule_set_that_is_not_there_is_not_found() -> None:
    assert cast.browser_of().get("/rules/egyptian_poker/").status_code == 404
