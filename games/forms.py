"""What the pages post. A form says what was wrong with its fields; the rules are the engine's."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from django import forms
from django.core.signing import Signer
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from accounts.models import User

from . import engine, wording
from .engine import RuleSet
from .models import Fingerprint

_LARGEST_INTEGER = 2**31 - 1
_ONE_ROUND = "round"


def _rule_set_label(name: str) -> str:
    return format_html(
        '<b>{}</b><span class="difference"> {}</span>',
        wording.RULE_SET_NAMES[name],
        wording.RULE_SET_DIFFERENCES[name],
    )


def _level_label(level: User.Level) -> str:
    return format_html(
        '<bdi>{}</bdi><span class="difference"> {}</span>',
        level.label,
        wording.LEVEL_CHARACTERS[level],
    )


_lazy_level_label = lazy(_level_label, str)
_lazy_rule_set_label = lazy(_rule_set_label, str)
_lazy_target_label = lazy(wording.target_label, str)


class TermsForm(forms.Form):
    """The terms of a game; the defaults make a game in one click."""

    rule_set = forms.ChoiceField(
        label=_("Rules"),
        widget=forms.RadioSelect,
        choices=[(name, _lazy_rule_set_label(name)) for name in engine.RULE_SETS],
        initial=engine.DEFAULT_RULE_SET,
    )
    target = forms.TypedChoiceField(
        label=_("Play"),
        choices=[(target or _ONE_ROUND, _lazy_target_label(target)) for target in engine.TARGETS],
        coerce=lambda value: None if value == _ONE_ROUND else int(value),
        initial=_ONE_ROUND,
    )
    form_key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def rules(self) -> RuleSet:
        """Return the rule set that was chosen."""
        return engine.RULE_SETS[self.cleaned_data["rule_set"]]


class ComputerGameForm(TermsForm):
    """A game against one of the computer players."""

    level = forms.TypedChoiceField(
        label=_("Your opponent"),
        widget=forms.RadioSelect,
        choices=[(level.value, _lazy_level_label(level)) for level in User.Level],
        coerce=User.Level,
        initial=User.Level.EASY,
    )
    own_words = forms.BooleanField(
        label=_("Let me type my own words for the shuffle"), required=False
    )


class ChallengeForm(TermsForm):
    """A game offered to another person, by a named rule set or by the player's own rules."""

    LINK, LIST = "link", "list"

    rule_set = forms.ChoiceField(
        label=_("Rules"),
        widget=forms.RadioSelect,
        choices=[(name, _lazy_rule_set_label(name)) for name in (*engine.RULE_SETS, engine.CUSTOM)],
        initial=engine.DEFAULT_RULE_SET,
    )
    who = forms.ChoiceField(
        label=_("Against"),
        widget=forms.RadioSelect,
        choices=[
            (LINK, _("a friend: you get a link to send")),
            (LIST, _("whoever comes: it stands on the open table")),
        ],
        initial=LINK,
    )

    @property
    def is_custom(self) -> bool:
        """Whether the player's own rules were chosen; they are a form of their own."""
        return bool(self["rule_set"].value() == engine.CUSTOM)


class WordsForm(forms.Form):
    """The words of the joining player, and what the server had proposed for this game."""

    form_key = forms.UUIDField(required=False, widget=forms.HiddenInput)
    words = forms.CharField(required=False)
    proposal = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_words(self) -> str:
        try:
            return engine.clean_words(self.cleaned_data["words"])
        except engine.InvalidInput as error:
            raise forms.ValidationError(str(error)) from error

    def words_by(self, game_id: UUID) -> Fingerprint.By:
        """Return whose the words are: the server's if they are what it proposed and signed."""
        proposed = signed_proposal(game_id, self.cleaned_data["words"])
        if self.cleaned_data["proposal"] == proposed:
            return Fingerprint.By.SERVER
        return Fingerprint.By.OPPONENT


def signed_proposal(game_id: UUID, words: str) -> str:
    """Return words with the mark by which the server knows its own proposal again."""
    return Signer(salt=f"words for game {game_id}").sign(words)


class PlayForm(forms.Form):
    """A card to play on the board of a version, with its capture where there is a choice."""

    card = forms.CharField(max_length=3)
    version = forms.IntegerField(min_value=0, max_value=_LARGEST_INTEGER)
    move_id = forms.UUIDField()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        card = cleaned.get("card")
        if card is None:
            return cleaned
        try:
            capture = self.data.get(f"capture-{card}")
            cleaned["play"] = engine.Play(
                engine.Card.parse(card),
                None if capture is None else frozenset(_parse_capture(capture)),
            )
        except engine.InvalidInput as error:
            raise forms.ValidationError(str(error)) from error
        return cleaned


class HintForm(forms.Form):
    """The version of the board on which a hint is asked for."""

    version = forms.IntegerField(min_value=0, max_value=_LARGEST_INTEGER)


class AfterMoveForm(forms.Form):
    """Where a player wants to go after a move."""

    after_move = forms.ChoiceField(label=_("After my move"), choices=User.AfterMove)


class SeenForm(forms.Form):
    """The round whose summary is put away."""

    round = forms.IntegerField(min_value=1, max_value=engine.ROUNDS_SEALED)


def _parse_capture(value: str) -> list[engine.Card]:
    return [engine.Card.parse(code) for code in value.split("+")] if value else []
