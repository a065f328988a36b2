from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        """Register what is found by its name, and listen to allauth."""
        from allauth.account.signals import email_confirmed, password_reset

        from . import account_mails, facebook, first_sign_in, privacy_mails, signing_in, stale

        del account_mails, facebook, first_sign_in, privacy_mails, stale
        email_confirmed.connect(signing_in.on_email_confirmed)
        password_reset.connect(signing_in.on_password_reset)
