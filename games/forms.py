"""What the pages post. A form says what was wrong with its fields; the rules are the engine's."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.signing import Signer
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.names import isolated_name

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

    LINK, LIST, MAIL, PLAYER = "link", "list", "mail", "player"

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
            (MAIL, _("a friend by email: we write to your friend")),
            (LIST, _("whoever comes: it stands on the open table")),
        ],
        initial=LINK,
    )
    address = forms.EmailField(
        label=_("Your friend's email address"),
        required=False,
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "email", "dir": "ltr"}),
    )
    language = forms.ChoiceField(
        label=_("Language of the mail"), required=False, choices=lambda: settings.LANGUAGES
    )

    opponent = forms.ChoiceField(label=_("Which friend"), required=False)

    def __init__(self, *args: Any, people: Sequence[User] = (), **kwargs: Any) -> None:
        """``people`` are those whom the player can challenge by name."""
        super().__init__(*args, **kwargs)
        self._people = {str(one.public_id): one for one in people}
        self._offer_people()
        self.fields["language"].initial = get_language()
        # The browser would cut a longer address short without a word.
        self.fields["address"].widget.attrs.pop("maxlength", None)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        by_mail = cleaned.get("who") == self.MAIL
        if by_mail and not cleaned.get("address") and "address" not in self.errors:
            self.add_error("address", _("Please type your friend's email address."))
        elif not by_mail:  # what was typed for another choice is not in the way
            self.errors.pop("address", None)
        if cleaned.get("who") == self.PLAYER:
            if not cleaned.get("opponent") and "opponent" not in self.errors:
                self.add_error("opponent", _("Please choose a friend."))
        else:
            self.errors.pop("opponent", None)
        cleaned["language"] = cleaned.get("language") or get_language()
        return cleaned

    def _offer_people(self) -> None:
        if not self._people:
            del self.fields["opponent"]
            return
        who = cast("forms.ChoiceField", self.fields["who"])
        opponent = cast("forms.ChoiceField", self.fields["opponent"])
        who.choices = [(self.PLAYER, _("a friend who plays here")), *self.declared_choices()]
        opponent.choices = [
            (key, isolated_name(one.shown_name)) for key, one in self._people.items()
        ]

    def named_opponent(self) -> User | None:
        """Return the player whom the form shows as chosen."""
        if "opponent" not in self.fields or self["who"].value() != self.PLAYER:
            return None
        return self._people.get(str(self["opponent"].value()))

    @classmethod
    def declared_choices(cls) -> list[Any]:
        """Return how a game can be offered by somebody without friends."""
        who = cast("forms.ChoiceField", cls.base_fields["who"])
        return list(who.choices)  # type: ignore[arg-type]  # pairs, all of them

    def chosen_opponent(self) -> User | None:
        """Return the player who was chosen, if the game is for one player alone."""
        if self.cleaned_data["who"] != self.PLAYER:
            return None
        return self._people[self.cleaned_data["opponent"]]

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


class InvitedWordsForm(WordsForm):
    """The words of somebody with a mailed link, and whether another account than its may accept."""

    agreed = forms.BooleanField(required=False)


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
