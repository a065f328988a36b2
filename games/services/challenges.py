"""Offering a game, and what becomes of the offer: one end, whoever is first.

Every end is one conditional update of a row that still waits; of any number of requests at once
one finds it so. Accepting deals the first round in the same transaction.
"""

from __future__ import annotations

import uuid
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from accounts import quotas
from accounts.models import User
from accounts.relations import hold, may_challenge

from .. import dealing, engine, selectors
from ..engine import RuleSet
from ..models import Challenge, Fingerprint, Game, Invitation
from ..selectors import AWAY_FOR_LONG, CHALLENGE_IS_KEPT, CHALLENGE_LASTS
from ..snapshot import terms_of
from .advancing import advance, open_seal, write_into

MOST_OFFERS_OF_A_REMATCH = 3
MOST_WAITING_OF_A_PAIR = 3
"""Offers of one player that wait for the same other one."""
MOST_WAITING_FOR_ONE = 50
"""Offers of people that wait for one player by name."""


class ChallengeClosed(Exception):
    """The challenge has found its end another way; nothing was changed."""


class OwnChallenge(Exception):
    """A player cannot accept a challenge of their own."""


class TooManyGames(Exception):
    """The player has as many running games and open challenges as one can have."""


class TakesNoChallenge(Exception):
    """The other player takes no challenge from this one now; why is not told."""


class OfferedOften(Exception):
    """The player has offered this rematch as often as one can, and taken it back each time."""


class TooManyListed(Exception):
    """The player has as many offers on the open table as one can have there."""


# No name that a person can take has a bracket, so that these are free.
_STORED_NAMES = {
    User.Level.EASY: "Simsim (computer)",
    User.Level.MEDIUM: "Amm Sayed (computer)",
    User.Level.HARD: "El Usta (computer)",
}


def computer_player(level: User.Level) -> User:
    """Return the computer player of a level, made when it is first asked for."""
    computer, _made = User.objects.get_or_create(
        username=f"computer-{level}",
        defaults={"name": _STORED_NAMES[level], "kind": User.Kind.COMPUTER, "level": level},
    )
    return computer


def challenge_by_the_computer(
    *,
    player: User,
    level: User.Level,
    rules: RuleSet,
    target: int | None,
    form_key: UUID | None = None,
) -> Challenge:
    """Let the computer challenge ``player``, who accepts with the words for the shuffle.

    Posting one form twice (``form_key``) makes one challenge. Raises ``TooManyGames``.
    """
    maker = computer_player(level)
    return _made_once(maker, player, rules, target, by=player, form_key=form_key)


def make_challenge(
    *,
    player: User,
    rules: RuleSet,
    target: int | None,
    listed: bool = False,
    opponent: User | None = None,
    form_key: UUID | None = None,
) -> Challenge:
    """Offer a game to whoever gets the link, and to everybody if ``listed``; seal its deals.

    With an ``opponent`` it is for that player alone. Posting one form twice (``form_key``) makes
    one challenge. Raises ``TooManyGames``, ``TooManyListed`` or ``TakesNoChallenge``.
    """
    if opponent is not None and not may_challenge(player, opponent):
        raise TakesNoChallenge
    return _made_once(
        player, opponent, rules, target, by=player, form_key=form_key, listed=listed,
        purpose=f"for {opponent.pk}" if opponent else "",
    )  # fmt: skip


def challenge_to_be_mailed(
    *, player: User, rules: RuleSet, target: int | None, form_key: UUID | None, to: str
) -> Challenge:
    """Offer a game to whoever will have the link in a mail; ``to`` names the address.

    The caller stores the invitation in the same transaction: without it the challenge would be
    anybody's who has its plain link. Raises ``TooManyGames``.
    """
    return _made_once(player, None, rules, target, by=player, form_key=form_key, purpose=to)


def offer_rematch(*, game_id: UUID, player: User) -> Challenge:
    """Offer the other player of a finished game another one on the same terms.

    There is one rematch of a game: where it was offered or accepted already, by either, that
    challenge is returned, and so is the player's own offer that was declined. Raises
    ``GameNotFound``, ``ChallengeClosed`` (the game goes on, or was against the computer),
    ``TakesNoChallenge``, ``OfferedOften`` or ``TooManyGames``.
    """
    game = selectors.game_of(player, game_id)
    other = game.player(game.seat_of(player).other)
    if game.status != Game.Status.FINISHED or other.is_computer:
        raise ChallengeClosed
    if (earlier := selectors.rematch_of(game, player)) is not None:
        return earlier
    if not may_challenge(player, other):
        raise TakesNoChallenge
    overdue = Challenge.objects.filter(rematch_of=game, expires_at__lte=Now())
    _expire(overdue)  # it would stand in the way until beat rings
    if Challenge.objects.filter(rematch_of=game, maker=player).count() >= MOST_OFFERS_OF_A_REMATCH:
        raise OfferedOften
    terms = terms_of(game)
    try:
        return _made_once(player, other, terms.rules, terms.target, by=player, rematch_of=game)
    except IntegrityError:  # both pressed at once
        offered = selectors.rematch_of(game, player)
        if offered is None:  # and it has found its end already
            raise ChallengeClosed from None
        return offered


def accept_challenge(
    *, challenge_id: UUID, player: User, words: str, words_by: Fingerprint.By
) -> Game:
    """Take the other seat: freeze the player's words, deal round 1, and return the game.

    Accepting again with the same words is answered as once. Raises ``ChallengeNotFound``,
    ``InvalidInput`` (the words), ``OwnChallenge``, ``TooManyGames`` or ``ChallengeClosed``
    (somebody was faster, or other words were frozen).
    """
    with transaction.atomic():
        challenge = selectors.challenge_for(player, challenge_id)
        return take_seat(challenge, player=player, words=words, words_by=words_by)


def take_seat(challenge: Challenge, *, player: User, words: str, words_by: Fingerprint.By) -> Game:
    """Accept a challenge that was found for ``player``; otherwise as ``accept_challenge``."""
    with transaction.atomic():
        if challenge.maker_id == player.pk:
            raise OwnChallenge
        # Whoever is leaving meanwhile leaves no game behind that nobody can end.
        if hold(player, challenge.maker) and selectors.is_open(challenge, player):
            if selectors.count_commitments(player, but=challenge) >= selectors.MOST_OPEN_GAMES:
                raise TooManyGames
            if _close(challenge, Challenge.State.ACCEPTED):
                _note_who_came(challenge, player)
                return _first_deal(challenge, player, words, words_by)
    game = Game.objects.filter(pk=challenge.pk, player_b=player).first()
    fingerprint = selectors.fingerprint_of(game) if game else None
    if fingerprint is None or not dealing.are_frozen(words, fingerprint):
        raise ChallengeClosed
    return selectors.game_of(player, challenge.pk)


def decline_challenge(*, challenge_id: UUID, player: User) -> Challenge:
    """Say no to a challenge that was made to ``player`` alone; again is harmless.

    Raises ``ChallengeNotFound`` or ``ChallengeClosed``.
    """
    challenge = selectors.challenge_for(player, challenge_id)
    if not selectors.is_for(challenge, player):
        raise selectors.ChallengeNotFound
    return end(challenge, Challenge.State.DECLINED)


def withdraw_challenge(*, challenge_id: UUID, player: User) -> Challenge:
    """Take back a challenge of one's own; again is harmless.

    Raises ``ChallengeNotFound`` or ``ChallengeClosed``.
    """
    challenge = selectors.challenge_for(player, challenge_id)
    if challenge.maker_id != player.pk:
        raise selectors.ChallengeNotFound
    return end(challenge, Challenge.State.WITHDRAWN)


def close_challenges() -> int:
    """Expire what waited too long and withdraw what its maker left; return how many that were.

    What ended without a game is deleted after ``CHALLENGE_IS_KEPT``, with its seal, and so is what
    is kept of an invitation that became a game.
    """
    closed = _expire(Challenge.objects.filter(expires_at__lte=Now()))
    waiting = Challenge.objects.filter(state=Challenge.State.WAITING)
    away = Q(listed=True, maker__seen_at__lt=Now() - AWAY_FOR_LONG)
    left = waiting.filter(away | Q(maker__is_active=False) | Q(opponent__kind=User.Kind.FORMER))
    # By key, each where it still waits: a join in an update is decided on an older row.
    keys = list(left.values_list("pk", flat=True))
    withdrawn = Challenge.State.WITHDRAWN
    closed += waiting.filter(pk__in=keys).update(state=withdrawn, answered_at=Now())
    kept = Invitation.objects.exclude(address="").exclude(challenge__state=Challenge.State.WAITING)
    kept.update(address="")
    ended = Challenge.objects.filter(answered_at__lt=Now() - CHALLENGE_IS_KEPT)
    ended.exclude(state__in=[Challenge.State.WAITING, Challenge.State.ACCEPTED]).delete()
    # Of one that became a game the game stays, not that it was mailed, nor to whom.
    Invitation.objects.filter(challenge__in=ended).delete()
    return closed


def _expire(challenges: QuerySet[Challenge]) -> int:
    waiting = challenges.filter(state=Challenge.State.WAITING)
    return waiting.update(state=Challenge.State.EXPIRED, answered_at=Now())


def _made_once(
    maker: User,
    opponent: User | None,
    rules: RuleSet,
    target: int | None,
    *,
    by: User,
    form_key: UUID | None = None,
    listed: bool = False,
    rematch_of: Game | None = None,
    purpose: str = "",
) -> Challenge:
    # A key is this player's own, and for these terms: with others it is another offer.
    terms = f"{by.pk} {maker.pk} {rules.to_json()} {target} {listed} {purpose}"
    key = uuid.uuid5(form_key, terms) if form_key else None
    with transaction.atomic():
        # Of two offers made at once the second finds the first, and counts it.
        are_here = hold(by, *filter(None, [opponent]))
        if key is not None and (earlier := Challenge.objects.filter(form_key=key).first()):
            return earlier
        if not are_here or (opponent not in (None, by) and _is_flooded(opponent, by)):
            raise TakesNoChallenge
        if selectors.count_commitments(by) >= selectors.MOST_OPEN_GAMES:
            raise TooManyGames
        if listed and selectors.count_listed(by) >= selectors.MOST_LISTED_CHALLENGES:
            raise TooManyListed
        challenge = Challenge.objects.create(
            form_key=key,
            maker=maker,
            opponent=opponent,
            listed=listed,
            rematch_of=rematch_of,
            rule_set=rules.to_json(),
            target=target,
            rules_version=engine.RULES_VERSION,
            shuffle_version=engine.SHUFFLE_VERSION,
            expires_at=Now() + CHALLENGE_LASTS,
        )
        dealing.seal(challenge)
        return challenge


def _is_flooded(opponent: User, by: User) -> bool:
    """Return whether as many offers wait for ``opponent`` as anybody, or ``by``, can make."""
    waiting = Challenge.objects.filter(selectors.WAITING, opponent=opponent)
    makers = waiting.exclude(maker__kind=User.Kind.COMPUTER).values_list("maker", flat=True)
    found = list(makers[:MOST_WAITING_FOR_ONE])
    return len(found) >= MOST_WAITING_FOR_ONE or found.count(by.pk) >= MOST_WAITING_OF_A_PAIR


def _close(challenge: Challenge, state: Challenge.State) -> bool:
    """Move a challenge that still waits to its end; return whether it did."""
    challenges = Challenge.objects.filter(selectors.WAITING, pk=challenge.pk)
    return bool(challenges.update(state=state, answered_at=Now()))


def end_by_key(key: UUID, state: Challenge.State) -> None:
    """Move a challenge to its end, whoever asks, if it still waits; its address is forgotten.

    For the caller's transaction, in the order of keys where there are several: somebody may be
    accepting one.
    """
    waiting = Challenge.objects.filter(pk=key, state=Challenge.State.WAITING)
    if waiting.update(state=state, answered_at=Now()):
        Invitation.objects.filter(pk=key).update(address="")


def end(challenge: Challenge, state: Challenge.State) -> Challenge:
    """Move a challenge to its end; again is harmless. Raises ``ChallengeClosed``."""
    if _close(challenge, state):
        _forget_address(challenge, answered=state == Challenge.State.DECLINED)
    challenge.refresh_from_db(fields=["state", "answered_at"])
    if challenge.state != state:
        raise ChallengeClosed
    return challenge


def _note_who_came(challenge: Challenge, player: User) -> None:
    """Whoever accepts an invitation is the opponent from then on, by name."""
    if _forget_address(challenge, answered=True):
        Challenge.objects.filter(pk=challenge.pk).update(opponent=player)


def _forget_address(challenge: Challenge, *, answered: bool) -> bool:
    """Forget where an ended challenge was mailed to; return whether it was."""
    invitation = selectors.invitation_of(challenge)
    if invitation is None:
        return False
    Invitation.objects.filter(pk=invitation.pk).update(address="")
    if answered:
        quotas.give_back(unanswered(invitation.address_digest))
    return True


def unanswered(address_digest: str) -> str:
    """Return the key under which the mails to an address are counted until one is answered."""
    return f"invitations to {address_digest} without an answer"


def _first_deal(challenge: Challenge, player: User, words: str, words_by: Fingerprint.By) -> Game:
    game = Game(
        id=challenge.pk,
        player_a=challenge.maker,
        player_b=player,
        rule_set=challenge.rule_set,
        target=challenge.target,
        rules_version=challenge.rules_version,
        shuffle_version=challenge.shuffle_version,
    )
    game.now = challenge.now
    game.save(force_insert=True)
    dealing.freeze_words(game, words, words_by)
    seal = open_seal(game)
    state = engine.deal(engine.new_game(terms_of(game)), seal.deal(1))
    write_into(game, advance(game, state, seal))
    game.save(force_update=True)
    return game
