from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Take part in what accounts announce."""
        from accounts import retention, signals

        from . import exporting, mails  # noqa: F401 - they register themselves
        from .services import invitations, leaving, parting, people

        signals.guest_joined.connect(people.on_guest_joined)
        signals.address_confirmed.connect(invitations.on_address_confirmed)
        signals.players_parted.connect(parting.on_players_parted)
        signals.account_closing.connect(leaving.on_account_closing)
        retention.stays.append(leaving.plays_with_a_person)
