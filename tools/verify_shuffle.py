"""Check the deals of a game of Basra: python verify_shuffle.py document.json [--words "…"]"""

import hmac
import json
import sys
from hashlib import sha256
from pathlib import Path


def check(path: str, words: str | None = None) -> None:
    game = json.loads(sys.stdin.read() if path == "-" else Path(path).read_text("utf-8"))
    link, rounds, game_id = game["anchor"], game["rounds"], game["game_id"].replace("-", "")
    if game["version"] != "basra-shuffle-v1" or not len(rounds) <= game["rounds_sealed"] <= 128:
        sys.exit("wrong: another recipe, or more rounds than it seals")
    if words is not None and sha256(words.strip().encode()).hexdigest() != game["words_sha256"]:
        sys.exit("wrong: these words have another fingerprint")
    for number, one in enumerate(rounds, start=1):
        if one["round"] != number or sha256(bytes.fromhex(one["secret"])).hexdigest() != link:
            sys.exit(f"wrong: round {number} is missing or its secret does not hang on the anchor")
        link, deal = one["secret"], bytes.fromhex(f"{game_id}{number:04x}{game['words_sha256']}")
        key = hmac.digest(bytes.fromhex(link), b"basra-shuffle-v1\0" + deal, "sha256")
        stream = (x for j in range(2**32) for x in hmac.digest(key, j.to_bytes(4, "big"), "sha256"))
        draws = [next(x for x in stream if x < 256 - 256 % m) % m for m in [*range(52, 1, -1), 2]]
        deck = [rank + suit for suit in "CDHS" for rank in [*"A23456789", "10", *"JQK"]]
        for last, other in zip(range(51, 0, -1), draws, strict=False):
            deck[last], deck[other] = deck[other], deck[last]
        dealer = ("creator", "opponent")[draws[51]] if number == 1 else None
        if (" ".join(deck), dealer) != (one["deck"], one.get("first_dealer")):
            sys.exit(f"wrong: the secret of round {number} deals other cards")
        print(f"round {number}: as sealed")
    print(f"Rounds that are over: {len(rounds)}. Is this the anchor you know? {game['anchor']!a}")


if __name__ == "__main__":
    try:
        check(sys.argv[1], *(one for one in sys.argv[2:] if one != "--words"))
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        print("This cannot be read as the fairness document of a game.", file=sys.stderr)
        sys.exit(2)
