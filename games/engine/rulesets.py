"""Rule sets: the values in which the ways of playing Basra differ (docs/rules.md 3)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal, get_args, get_type_hints

from .errors import InvalidInput, shown

RULES_VERSION: Final = 1
"""Stored with every game, so that it replays under the rules it was played by."""

CUSTOM: Final = "custom"
"""The name of every rule set that is not one of :data:`RULE_SETS`."""

type Replaced = Literal["bottom", "random place"]
type KomiPower = Literal["any card", "ordinary seven"]

MOST_POINTS: Final = 100
"""The most that one majority or one basra can be set to count."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All values of one way of playing; keys and values are those of docs/door.md.

    ``name`` is a key of :data:`RULE_SETS`, or ``custom``; ``base`` is the named rule set that a
    custom one was made from, and supplies nothing but the default target.
    ``komi_basra`` is ``None`` where no capture makes a komi basra.
    """

    name: str
    base: str
    replaced: Replaced
    komi_basra_test: Literal["any value", "ten or less"]
    komi_on_lone_jack: Literal["jack", "none"]
    komi_alone: KomiPower
    jack_on_lone_komi: Literal["komi", "none"]
    komi_among_others: KomiPower
    majority: int
    equal_cards: Literal["nobody", "carried"]
    basra: int
    jack_basra: int
    komi_basra: int | None
    single_cards: Literal["none", "2C", "2S"]
    last_card_basra: bool
    left_over: Literal["last capturer", "nobody"]

    @property
    def makes_komi_basras(self) -> bool:
        """Whether any capture is a komi basra; if not, what one counts means nothing."""
        return self.komi_alone == "any card" or self.jack_on_lone_komi == "komi"

    @property
    def default_target(self) -> int:
        """The score that a game by these rules is played to unless its creator says otherwise."""
        return _DEFAULT_TARGETS[self.base]

    @classmethod
    def from_json(cls, value: object) -> "RuleSet":
        """Read a rule set from its name, or from an object with ``base`` and own values.

        Raises :class:`InvalidInput` with code ``rule_set`` for an unknown name or value,
        ``unknown_key`` for a key that is none, ``missing`` where ``base`` or a needed
        ``komi_basra`` is not given. An object that changes nothing is the named rule set.
        """
        if isinstance(value, str):
            return _named(value)
        if not isinstance(value, Mapping):
            raise InvalidInput("A rule set is a name or an object.", "rule_set")
        if "base" not in value:
            raise InvalidInput("A custom rule set needs a base.", "missing")
        base = _named(value["base"])
        changes = {key: own for key, own in value.items() if key != "base"}
        for key, own in changes.items():
            if key not in _CHOICES:
                raise InvalidInput(f"{shown(key)} is no value of a rule set.", "unknown_key")
            if not _allowed(own, _CHOICES[key]):
                raise InvalidInput(f"{key} cannot be {shown(own)}.", "rule_set")
        rules = replace(base, **changes)
        if rules.komi_alone == "any card" and rules.komi_basra is None:
            raise InvalidInput(
                "komi_basra must be given where every card takes a komi that lies alone.",
                "missing",
            )
        return base if rules == base else replace(rules, name=CUSTOM)

    def to_json(self) -> str | dict[str, object]:
        """The name of a named rule set, else an object with every value; see ``from_json``."""
        if self.name != CUSTOM:
            return self.name
        values = asdict(self)
        del values["name"]
        if self.komi_basra is None:
            del values["komi_basra"]
        return values


def _named(name: object) -> RuleSet:
    rules = RULE_SETS.get(name) if isinstance(name, str) else None
    if rules is None:
        raise InvalidInput(f"There is no rule set {shown(name)}.", "rule_set")
    return rules


def _allowed(value: object, choices: tuple[object, ...] | range) -> bool:
    # By type as well as by value: in Python 1 == True == 1.0, in a rule set they differ.
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _choices() -> dict[str, tuple[object, ...] | range]:
    """What every key of a custom rule set may be, read from the annotations of the class."""
    choices: dict[str, tuple[object, ...] | range] = {}
    for key, hint in get_type_hints(RuleSet).items():
        if key in ("name", "base"):
            continue
        literal = getattr(hint, "__value__", hint)
        if literal is bool:
            choices[key] = (True, False)
        else:
            choices[key] = get_args(literal) if literal not in (int, int | None) else _POINTS
    return choices


_POINTS = range(MOST_POINTS + 1)
_CHOICES: Final = _choices()

_EGYPTIAN_BASRA: Final = RuleSet(
    name="egyptian_basra",
    base="egyptian_basra",
    replaced="bottom",
    komi_basra_test="any value",
    komi_on_lone_jack="jack",
    komi_alone="any card",
    jack_on_lone_komi="komi",
    komi_among_others="ordinary seven",
    majority=30,
    equal_cards="nobody",
    basra=10,
    jack_basra=10,
    komi_basra=10,
    single_cards="none",
    last_card_basra=True,
    left_over="last capturer",
)

RULE_SETS: Final[dict[str, RuleSet]] = {
    rules.name: rules
    for rules in (
        _EGYPTIAN_BASRA,
        replace(
            _EGYPTIAN_BASRA,
            name="egyptian_basra_v2",
            base="egyptian_basra_v2",
            replaced="random place",
            jack_on_lone_komi="none",
            komi_among_others="any card",
            jack_basra=30,
        ),
        replace(
            _EGYPTIAN_BASRA,
            name="egyptian_basra_2",
            base="egyptian_basra_2",
            jack_basra=30,
            komi_basra=30,
        ),
        replace(
            _EGYPTIAN_BASRA,
            name="standard",
            base="standard",
            replaced="random place",
            komi_basra_test="ten or less",
            komi_on_lone_jack="none",
            komi_alone="ordinary seven",
            jack_on_lone_komi="none",
            equal_cards="carried",
            jack_basra=30,
            komi_basra=None,
        ),
    )
}
"""The four rule sets of docs/rules.md 3, by name."""

DEFAULT_RULE_SET: Final = "egyptian_basra_2"

TARGETS: Final[tuple[int | None, ...]] = (None, 51, 101, 121, 151, 201)
"""What a game may be played to; ``None`` is a game of one round."""

_DEFAULT_TARGETS: Final = {
    "egyptian_basra": 101,
    "egyptian_basra_v2": 101,
    "egyptian_basra_2": 101,
    "standard": 121,
}
