"""Records that people bring to look at: private, checked by the engine, and a limited number."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from django import forms
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User

from . import engine
from .engine import Pair, Record, RecordError
from .models import UploadedRecord
from .replaying import shortened

MOST_RECORDS = 20  # that one player can keep
MOST_CHARACTERS = 50_000  # of a record: what fits into a request, with the form around it


class RecordNotFound(Exception):
    """There is no such record, or it is not this player's: the answer is the same."""


class TooManyRecords(Exception):
    """The player keeps as many records as one can."""


class RecordForm(forms.Form):
    """A record as text. The engine reads and replays it; ``record`` is what it read."""

    record: Record

    text = forms.CharField(
        label=_("Record"),
        max_length=MOST_CHARACTERS,
        widget=forms.Textarea(
            attrs={"rows": 12, "dir": "ltr", "spellcheck": "false", "autocomplete": "off"}
        ),
        error_messages={
            "required": _("Please paste a record."),
            "max_length": _(
                "A record has at most %(limit_value)d characters; this one has %(show_value)d."
            ),
        },
    )
    form_key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The browser would cut a longer text short without a word.
        self.fields["text"].widget.attrs.pop("maxlength", None)

    def clean_text(self) -> str:
        try:
            self.record = engine.parse_record(self.cleaned_data["text"])
            engine.replay(self.record)
        except RecordError as error:
            raise forms.ValidationError(_place_and_sentence(error)) from error
        if not self.record.rounds:
            raise forms.ValidationError(_("This record has no round to look at."))
        return engine.format_record(self.record)


def _place_and_sentence(error: RecordError) -> str:
    """Return where a record is wrong in the reader's language, then the engine's own sentence."""
    said = {"round": error.round, "play": error.ply, "detail": str(error)}
    if error.round is None:
        return gettext("This text cannot be read as a record. (%(detail)s)") % said
    if error.ply is None:
        return gettext("Round %(round)d of this record is wrong. (%(detail)s)") % said
    return gettext("Play %(play)d of round %(round)d is wrong. (%(detail)s)") % said


def records_of(player: User) -> QuerySet[UploadedRecord]:
    """Return the records that ``player`` has brought, the latest first, without their texts."""
    return UploadedRecord.objects.filter(owner=player).defer("text").order_by("-uploaded_at", "pk")


def record_of(player: User, record_id: UUID) -> UploadedRecord:
    """Return a record of ``player``; raise ``RecordNotFound``."""
    row = UploadedRecord.objects.filter(owner=player, pk=record_id).first()
    if row is None:
        raise RecordNotFound
    return row


def keep_record(*, player: User, record: Record, form_key: UUID) -> UploadedRecord:
    """Keep a record for ``player``; posting one form twice keeps one. Raises ``TooManyRecords``."""
    key = uuid.uuid5(form_key, str(player.pk))
    made = UploadedRecord.objects.filter(form_key=key)
    if (earlier := made.first()) is not None:
        return earlier
    names = (record.names or Pair("", "")).map(shortened)
    try:
        with transaction.atomic():
            # Of two that come at once the second counts the first.
            User.objects.select_for_update(no_key=True).get(pk=player.pk)
            if UploadedRecord.objects.filter(owner=player).count() >= MOST_RECORDS:
                raise TooManyRecords
            return UploadedRecord.objects.create(
                owner=player,
                form_key=key,
                text=engine.format_record(record),
                name_a=names.a,
                name_b=names.b,
                plays=sum(len(one.plays) for one in record.rounds),
            )
    except IntegrityError:  # the same form, posted twice at once
        return made.get()


def drop_record(*, player: User, record_id: UUID) -> None:
    """Drop a record of ``player``; one that is not there, or not theirs, is left alone."""
    UploadedRecord.objects.filter(owner=player, pk=record_id).delete()
