"""What accounts announce to the rest of the site. Each is sent inside the transaction of its cause.

A receiver that raises undoes the whole: what must not be lost is written there and then.
"""

from django.dispatch import Signal

guest_joined = Signal()
"""A guest has become a member: ``guest``, ``member``. What was the guest's is the member's.

Sent again for what the guest's last requests left behind, so that it must be harmless twice.
"""

address_confirmed = Signal()
"""A member has confirmed an address: ``user``, ``address``."""

account_closing = Signal()
"""An account is deleted now: ``user``. What only they know or own goes; games stay."""

players_parted = Signal()
"""A player has blocked another: ``blocker``, ``blocked``. What waits between them is closed."""
