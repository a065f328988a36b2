"""Custom rules: every value is explained, and every example is what the engine does."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any
from unittest.mock import patch

import pytest
from django.template.loader import render_to_string
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from games import engine, wording
from games.custom_rules import CustomRulesForm, examples_of
from games.engine import InvalidInput, RuleSet
from games.engine.rulesets import MOST_POINTS
from games.examples import Example

DEFAULT = engine.RULE_SETS[engine.DEFAULT_RULE_SET]
KEYS = [key for key in asdict(DEFAULT) if key not in ("name", "base")]
POINTS = ["majority", "basra", "jack_basra", "komi_basra"]
CHOICES = [key for key in KEYS if key not in POINTS]


def posted(rules: RuleSet, **other: str) -> dict[str, str]:
    """Return what a browser posts when the form of ``rules`` is sent, with ``other`` values."""
    form = CustomRulesForm.of(rules)
    shown = {field.html_name: field.value() for field in form}
    shown |= {f"custom-{key}": value for key, value in other.items()}
    return {name: "" if value is None else str(value) for name, value in shown.items()}


def changed(rules: RuleSet, **values: Any) -> RuleSet:
    return replace(rules, **values)


def said(example: Example) -> list[str]:
    return [*(str(play.sentence) for play in example.plays), *example.words]


def page_of(form: CustomRulesForm, rules: RuleSet = DEFAULT) -> str:
    context = {"custom_form": form, "custom_examples": examples_of(rules)}
    return render_to_string("games/_custom_rules.html", context)


def values_of(rules: RuleSet) -> dict[str, object]:
    return {key: getattr(rules, key) for key in KEYS}


@st.composite
def rule_sets(draw: st.DrawFn) -> RuleSet:
    """Any rule set that can be made, but for a komi basra that can be and counts nothing."""
    values: dict[str, object] = {"base": draw(st.sampled_from(list(engine.RULE_SETS)))}
    for key in CHOICES:
        values[key] = draw(st.sampled_from(list(wording.value_choices(key))))
    for key in POINTS:
        values[key] = draw(st.integers(0, MOST_POINTS))
    never = (values["komi_alone"], values["jack_on_lone_komi"]) == ("ordinary seven", "none")
    if never and values["base"] == "standard" and draw(st.booleans()):
        del values["komi_basra"]
    return RuleSet.from_json(values)


# Every value


@pytest.mark.parametrize("key", KEYS)
def test_every_value_has_a_field_with_a_name_an_explanation_and_an_example(key: str) -> None:
    field = CustomRulesForm.of(DEFAULT)[key]
    assert field.label == wording.value_label(key)
    page = page_of(CustomRulesForm.of(DEFAULT))
    assert f'name="custom-{key}"' in page
    assert f'id="id_custom-{key}_helptext">{field.help_text}<' in page
    assert field.help_text.endswith(".")
    for sentence in said(examples_of(DEFAULT)[key]):
        assert sentence.replace("'", "&#x27;") in page


def test_the_page_asks_for_nothing_else_and_has_no_form_or_button_of_its_own() -> None:
    page = page_of(CustomRulesForm.of(DEFAULT))
    assert set(CustomRulesForm.base_fields) == {"base", *KEYS}
    assert set(examples_of(DEFAULT)) == set(KEYS)
    assert "<form" not in page
    assert "<button" not in page
    # A browser must not hold back the outer form for a field that is folded away.
    assert " required" not in page


@pytest.mark.parametrize("key", CHOICES)
def test_the_choices_are_those_of_the_engine(key: str) -> None:
    for value in wording.value_choices(key):
        RuleSet.from_json({"base": DEFAULT.base, key: value})
    rest = {"any card", "ordinary seven", "bottom", "nobody", "none", "2C", True, False, 2}
    for value in rest - set(wording.value_choices(key)):
        with pytest.raises(InvalidInput):
            RuleSet.from_json({"base": DEFAULT.base, key: value})


# Examples


@pytest.mark.parametrize("key", CHOICES)
@pytest.mark.parametrize("rules", engine.RULE_SETS.values(), ids=lambda rules: rules.name)
def test_the_example_tells_the_choices_apart(key: str, rules: RuleSet) -> None:
    choices = wording.value_choices(key)
    sentences = said(examples_of(rules)[key])[-len(choices) :]
    outcomes = set()
    for sentence, label in zip(sentences, choices.values(), strict=True):
        start = f"“{label}”: "
        assert sentence.startswith(start)
        outcomes.add(sentence.removeprefix(start))
    assert len(outcomes) == len(choices)


@pytest.mark.parametrize("key", POINTS)
def test_the_example_follows_the_points(key: str) -> None:
    for points in (7, 12):
        example = examples_of(changed(DEFAULT, **{key: points}))[key]
        assert f"{points} points" in " ".join(said(example))


@settings(max_examples=200)
@given(rule_sets())
def test_examples_can_be_made_of_every_rule_set(rules: RuleSet) -> None:
    for example in examples_of(rules).values():
        assert said(example)
        assert "%(" not in " ".join(said(example))


@pytest.mark.parametrize("rules", engine.RULE_SETS.values(), ids=lambda rules: rules.name)
def test_examples_of_the_end_of_a_round_are_games_that_can_be(rules: RuleSet) -> None:
    with patch("games.custom_rules.engine.play", wraps=engine.play) as play:
        examples_of(rules)
    assert play.call_count > len(wording.value_choices("left_over"))
    for call in play.call_args_list:
        state: engine.GameState = call.args[0]
        assert engine.problems(state) == []


# What docs/rules.md says of the examples' positions, by hand: what each choice takes and makes.
BY_HAND: dict[str, list[tuple[str, str | None]]] = {
    "komi_basra_test": [("4C 9H 5S", "a basra, 10 points"), ("4C 9H 5S", None)],
    "komi_on_lone_jack": [("JH", "a jack basra, 30 points"), ("JH", None)],
    "komi_alone": [("7D", "a komi basra, 30 points"), ("", None)],
    "jack_on_lone_komi": [("7D", "a komi basra, 30 points"), ("7D", None)],
    "komi_among_others": [("7D QS", None), ("QS", None)],
    "basra": [("10H 5S 4C AD", "a basra, 10 points")],
    "jack_basra": [("JH", "a jack basra, 30 points")],
    "komi_basra": [("7D", "a komi basra, 30 points")],
    "last_card_basra": [("5D 4H", "a basra, 10 points"), ("5D 4H", None)],
}


@pytest.mark.parametrize("key", BY_HAND)
def test_cards_take_what_the_rules_say(key: str) -> None:
    plays = examples_of(DEFAULT)[key].plays
    assert len(plays) == len(BY_HAND[key])
    for play, (takes, basra) in zip(plays, BY_HAND[key], strict=True):
        assert set(play.takes) == set(engine.parse_cards(takes))
        if basra is None:
            assert "basra," not in str(play.sentence)
        else:
            assert f"{basra}!" in str(play.sentence)


def test_points_are_counted_as_the_rules_say() -> None:
    examples = examples_of(DEFAULT)
    assert said(examples["majority"]) == [
        "You have 27 cards and the other player has 25: you get 30 points."
    ]
    nobody, carried = said(examples["equal_cards"])
    assert "26 cards each" in nobody
    assert "nobody gets points for most cards" in nobody
    assert "most cards in the next round then bring 60 points" in carried
    _pile, none, with_clubs, with_spades = said(examples["single_cards"])
    assert "No card counts" in none
    # A jack 1, an ace 1, the ten of diamonds 3 and one two 2.
    assert "7 points" in with_clubs
    assert "2♣" in with_clubs
    assert "2♠" not in with_clubs
    assert "7 points" in with_spades
    assert "2♠" in with_spades
    assert "2♣" not in with_spades


def test_cards_left_over_and_cards_replaced_go_where_the_rules_say() -> None:
    examples = examples_of(DEFAULT)
    mine, nobodys = said(examples["left_over"])
    assert "you get" in mine
    assert "nobody gets" in nobodys
    for card in ("K♣", "2♠", "9♥", "4♦"):
        assert card in mine.split("get")[1]
        assert card in nobodys.split("gets")[1]
    turned_up, bottom, random_place = said(examples["replaced"])
    assert turned_up.count("J♥") == 2
    assert "card 40 of the 40" in bottom
    assert "card 40 of" not in random_place


def test_a_komi_basra_that_cannot_be_is_said_to_be_none() -> None:
    assert said(examples_of(engine.RULE_SETS["standard"])["komi_basra"]) == [
        "By these values no card makes a komi basra."
    ]
    by_a_jack = changed(engine.RULE_SETS["standard"], jack_on_lone_komi="komi", komi_basra=20)
    (play,) = examples_of(by_a_jack)["komi_basra"].plays
    assert play.card.is_jack
    assert "a komi basra, 20 points" in str(play.sentence)


# The form


@settings(max_examples=200)
@given(rule_sets())
def test_what_the_form_shows_is_what_it_gives_back(rules: RuleSet) -> None:
    points = (rules.majority, rules.basra, rules.jack_basra, rules.komi_basra)
    assume(any(points) or rules.single_cards != "none")  # else nobody could win
    form = CustomRulesForm(posted(rules))
    assert form.is_valid(), form.errors
    given_back = form.rules()
    assert values_of(given_back) == values_of(rules)
    assert given_back == rules or given_back.name in engine.RULE_SETS


@pytest.mark.parametrize("name", engine.RULE_SETS)
@pytest.mark.parametrize("base", engine.RULE_SETS)
def test_the_values_of_a_named_rule_set_are_that_rule_set(name: str, base: str) -> None:
    form = CustomRulesForm(posted(engine.RULE_SETS[name], base=base))
    assert form.is_valid()
    assert form.rules() is engine.RULE_SETS[name]


def test_one_value_changed_is_a_custom_rule_set() -> None:
    form = CustomRulesForm(posted(DEFAULT, basra="15"))
    assert form.is_valid()
    assert form.rules() == changed(DEFAULT, name="custom", basra=15)
    assert wording.rule_set_name(form.rules()) == "Custom rules"


@pytest.mark.parametrize(
    "value", ["komi_alone any card", "jack_on_lone_komi komi"], ids=["by any card", "by a jack"]
)
@pytest.mark.parametrize("base", ["standard", "egyptian_basra_2"])
def test_a_komi_basra_that_can_be_needs_its_points(value: str, base: str) -> None:
    key, chosen = value.split(" ", 1)
    no_points = posted(engine.RULE_SETS["standard"], base=base, **{key: chosen})
    form = CustomRulesForm(no_points)
    assert not form.is_valid()
    assert list(form.errors) == ["komi_basra"]
    assert "Say what a komi basra counts" in page_of(form)
    assert CustomRulesForm(no_points | {"custom-komi_basra": "0"}).is_valid()


HOSTILE = [
    "",
    " ",
    "-1",
    "101",
    "9" * 5000,
    "1e3",
    "1.5",
    "nan",
    "\x00",
    "٣x",
    "<b>",
    "None",
    "\ud800",
]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value[:8]))
@pytest.mark.parametrize("key", ["base", *KEYS])
def test_a_wrong_value_gets_a_sentence_at_its_field(key: str, value: str) -> None:
    form = CustomRulesForm(posted(DEFAULT, **{key: value}))
    assert not form.is_valid()
    assert list(form.errors) == [key]
    (error,) = map(str, form.errors[key])
    assert error.endswith(".")
    page = page_of(form)
    assert error in page
    assert "<b>" not in page


def test_digits_of_other_scripts_are_numbers() -> None:
    form = CustomRulesForm(posted(DEFAULT, basra="١٢"))
    assert form.is_valid()
    assert form.rules().basra == 12


def test_nothing_posted_is_an_error_at_every_field_that_is_needed() -> None:
    form = CustomRulesForm({})
    assert not form.is_valid()
    assert set(form.errors) == {"base", *KEYS} - {"komi_basra"}
    assert page_of(form)


@settings(max_examples=200)
@given(st.fixed_dictionaries({f"custom-{key}": st.text() for key in ["base", *KEYS]}))
def test_no_input_breaks_the_form(data: dict[str, str]) -> None:
    form = CustomRulesForm(data)
    if form.is_valid():
        form.rules()
    assert page_of(form)
