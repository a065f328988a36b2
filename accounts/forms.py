from __future__ import annotations

from typing import ClassVar

from django import forms
from django.utils.translation import gettext as _

from .models import User
from .names import clean_name


class NameForm(forms.ModelForm[User]):
    """Choose the name that others see."""

    class Meta:
        model = User
        fields: ClassVar = ["name"]
        widgets: ClassVar = {"name": forms.TextInput(attrs={"autocomplete": "nickname"})}

    def clean_name(self) -> str:
        name = clean_name(self.cleaned_data["name"])
        if User.objects.filter(name__iexact=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("Somebody has this name already. Please take another."))
        return name
