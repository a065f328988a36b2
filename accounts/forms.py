from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.conf import settings
from django.utils.translation import get_language_info, gettext_lazy
from django.utils.translation import gettext as _

from .models import User
from .names import clean_name, is_taken
from .preferences import time_zones

if TYPE_CHECKING:
    UserForm = forms.ModelForm[User]
else:
    UserForm = forms.ModelForm


class SettingsForm(UserForm):
    """The name that others see, how the site looks and plays, and what others may do."""

    language = forms.ChoiceField(label=gettext_lazy("Language"), required=False)
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"), required=False)

    class Meta:
        model = User
        fields: ClassVar = ["name", *User.SETTINGS]
        widgets: ClassVar = {"name": forms.TextInput(attrs={"autocomplete": "nickname"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The browser would cut a longer name short without a word.
        self.fields["name"].widget.attrs.pop("maxlength", None)
        self._offer("time_zone", _("the site's: UTC"), [(one, one) for one in sorted(time_zones())])
        if len(settings.LANGUAGES) > 1:
            languages = [
                (code, get_language_info(code)["name_local"]) for code, _name in settings.LANGUAGES
            ]
            self._offer("language", _("as my browser says"), languages)
        else:
            del self.fields["language"]

    def _offer(self, field: str, none: str, choices: list[tuple[str, str]]) -> None:
        offered = cast("forms.ChoiceField", self.fields[field])
        offered.choices = [("", none), *choices]

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        if is_taken(name, but=self.instance):
            raise forms.ValidationError(self.name_taken())
        return name

    def save(self, commit: bool = True) -> User:
        """Save what the form holds, and nothing that has changed elsewhere meanwhile."""
        del commit
        self.instance.save(update_fields=list(self.fields))
        return self.instance

    @staticmethod
    def name_taken() -> str:
        """Return the sentence for a name that somebody else has."""
        return _("Somebody has this name already. Please take another.")


class FriendForm(forms.Form):
    """The name of a player whose friend one wants to be."""

    name = forms.CharField(label=gettext_lazy("Name"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])
