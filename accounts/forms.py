from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.utils.translation import gettext as _

from .models import User, skeleton_of
from .names import clean_name

if TYPE_CHECKING:
    UserForm = forms.ModelForm[User]
else:
    UserForm = forms.ModelForm


class SettingsForm(UserForm):
    """The name that others see, what the server may play by itself, and where a move leads."""

    class Meta:
        model = User
        fields: ClassVar = ["name", "plays_forced_cards", "after_move"]
        widgets: ClassVar = {"name": forms.TextInput(attrs={"autocomplete": "nickname"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The browser would cut a longer name short without a word.
        self.fields["name"].widget.attrs.pop("maxlength", None)

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        taken = User.objects.filter(skeleton=skeleton_of(name)).exclude(pk=self.instance.pk)
        if taken.exists():
            raise forms.ValidationError(self.name_taken())
        return name

    @staticmethod
    def name_taken() -> str:
        """Return the sentence for a name that somebody else has."""
        return _("Somebody has this name already. Please take another.")
