// Checks the deals of a game in the browser (docs/fair-shuffle.md). SHA-256 is written out here,
// because a browser has its own only over HTTPS, and a table may stand in a local network.
(function () {
  "use strict";

  // --- SHA-256 and HMAC, on arrays of bytes

  var ROUND_CONSTANTS = [];
  var FIRST_STATE = [];

  // The first 32 bits of the fractions of cube and square roots of the first primes.
  (function () {
    function fraction(number) { return ((number - Math.floor(number)) * 4294967296) | 0; }
    for (var number = 2; ROUND_CONSTANTS.length < 64; number += 1) {
      var prime = true;
      for (var factor = 2; factor * factor <= number; factor += 1) {
        if (number % factor === 0) prime = false;
      }
      if (!prime) continue;
      if (FIRST_STATE.length < 8) FIRST_STATE.push(fraction(Math.pow(number, 1 / 2)));
      ROUND_CONSTANTS.push(fraction(Math.pow(number, 1 / 3)));
    }
  })();

  function turned(word, by) { return (word >>> by) | (word << (32 - by)); }

  function sha256(bytes) {
    var length = bytes.length;
    var padded = bytes.concat([0x80]);
    while (padded.length % 64 !== 56) padded.push(0);
    padded = padded.concat(bigEndian(Math.floor(length / 536870912), 4), bigEndian(length * 8, 4));
    var state = FIRST_STATE.slice();
    for (var start = 0; start < padded.length; start += 64) mix(state, padded, start);
    return [].concat.apply([], state.map(function (word) { return bigEndian(word, 4); }));
  }

  function mix(state, bytes, start) {
    var words = [];
    var i;
    for (i = 0; i < 64; i += 1) {
      if (i < 16) {
        var at = start + 4 * i;
        words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
      } else {
        var x = words[i - 15];
        var y = words[i - 2];
        words[i] = (words[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)) +
          words[i - 7] + (turned(y, 17) ^ turned(y, 19) ^ (y >>> 10))) | 0;
      }
    }
    var a = state[0], b = state[1], c = state[2], d = state[3];
    var e = state[4], f = state[5], g = state[6], h = state[7];
    for (i = 0; i < 64; i += 1) {
      var one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) +
        ROUND_CONSTANTS[i] + words[i]) | 0;
      var two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
        ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + one) | 0;
      d = c; c = b; b = a; a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach(function (word, place) {
      state[place] = (state[place] + word) | 0;
    });
  }

  function hmac(key, message) {  // the keys here are 32 bytes, less than a block
    var block = key.concat(zeros(64 - key.length));
    function masked(mask) { return block.map(function (byte) { return byte ^ mask; }); }
    return sha256(masked(0x5c).concat(sha256(masked(0x36).concat(message))));
  }

  function zeros(count) {
    var bytes = [];
    while (bytes.length < count) bytes.push(0);
    return bytes;
  }

  function bigEndian(number, size) {
    var bytes = [];
    for (var place = size - 1; place >= 0; place -= 1) bytes.push((number >>> (8 * place)) & 255);
    return bytes;
  }

  function fromHex(text) {
    return text.match(/../g).map(function (pair) { return parseInt(pair, 16); });
  }

  function toHex(bytes) {
    return bytes.map(function (byte) { return (byte + 256).toString(16).slice(1); }).join("");
  }

  function fromText(text) {
    return encodeURIComponent(text).match(/%..|[^%]/g).map(function (one) {
      return one.length > 1 ? parseInt(one.slice(1), 16) : one.charCodeAt(0);
    });
  }

  // --- The recipe

  var VERSION = "basra-shuffle-v1";
  var MOST_ROUNDS = 128;
  var DEALERS = ["creator", "opponent"];

  function dealt(secret, gameId, number, wordsSha256) {
    var key = hmac(fromHex(secret), fromText(VERSION).concat(
      [0], fromHex(gameId.replace(/-/g, "")), bigEndian(number, 2), fromHex(wordsSha256)));
    var bytes = [];
    var blocks = 0;
    function below(limit) {
      for (;;) {
        if (!bytes.length) bytes = hmac(key, bigEndian(blocks++, 4));
        var byte = bytes.shift();
        if (byte < 256 - (256 % limit)) return byte % limit;
      }
    }
    var deck = [];
    "CDHS".split("").forEach(function (suit) {
      "A 2 3 4 5 6 7 8 9 10 J Q K".split(" ").forEach(function (rank) { deck.push(rank + suit); });
    });
    for (var last = 51; last > 0; last -= 1) {
      var other = below(last + 1);
      var card = deck[last];
      deck[last] = deck[other];
      deck[other] = card;
    }
    return { deck: deck.join(" "), firstDealer: number === 1 ? DEALERS[below(2)] : undefined };
  }

  // What surrounds the words does not count: the same characters as on the server.
  var AROUND = "[\\s\\x1c-\\x1f\\x85]+";

  function fingerprint(words) {
    // Not \ufeff, which only JavaScript takes for a space.
    var kept = words.split("\ufeff").map(function (part, place, parts) {
      if (place === 0) part = part.replace(new RegExp("^" + AROUND), "");
      if (place === parts.length - 1) part = part.replace(new RegExp(AROUND + "$"), "");
      return part;
    }).join("\ufeff");
    try {
      return toHex(kept ? sha256(fromText(kept)) : sha256([]));
    } catch (error) {
      return null;  // half a character: no words have it
    }
  }

  // --- The check

  function isHash(value) { return typeof value === "string" && /^[0-9a-f]{64}$/.test(value); }

  function isWhole(value, least, most) {
    return typeof value === "number" && value % 1 === 0 && value >= least && value <= most;
  }

  function isReadable(game) {
    return Boolean(game) && typeof game === "object" && typeof game.game_id === "string" &&
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(game.game_id) && isHash(game.anchor) &&
      isWhole(game.rounds_sealed, 1, MOST_ROUNDS) && Array.isArray(game.rounds) &&
      (isHash(game.words_sha256) || game.words_sha256 === null && !game.rounds.length);
  }

  // What is wrong with round `number`, whose secret has to hang on `link`: null where nothing is.
  function problemOf(game, round, number, link) {
    if (!round || round.round !== number || number > game.rounds_sealed) return "order";
    if (!isHash(round.secret) || toHex(sha256(fromHex(round.secret))) !== link) return "secret";
    var deal = dealt(round.secret, game.game_id, number, game.words_sha256);
    if (round.deck !== deal.deck) return "deck";
    return round.first_dealer === deal.firstDealer ? null : "dealer";
  }

  // Check a fairness document, and `words` against its fingerprint unless they are left out.
  // Returns {problems: [{code, round}], rounds: [{round, problem}]}; what follows a broken link of
  // the chain is not checked, since nothing holds it.
  function check(game, words) {
    if (!isReadable(game)) return { problems: [{ code: "unreadable", round: null }], rounds: [] };
    var problems = [];
    var rounds = [];
    if (game.version !== VERSION) problems.push({ code: "version", round: null });
    if (typeof words === "string" && fingerprint(words) !== game.words_sha256) {
      problems.push({ code: "words", round: null });
    }
    var link = game.anchor;
    for (var place = 0; place < game.rounds.length; place += 1) {
      var number = place + 1;
      var problem = problemOf(game, game.rounds[place], number, link);
      rounds.push({ round: number, problem: problem });
      if (problem) problems.push({ code: problem, round: number });
      if (problem === "order" || problem === "secret") break;
      link = game.rounds[place].secret;
    }
    return { problems: problems, rounds: rounds };
  }

  window.BasraFairness = { check: check, fingerprint: fingerprint };

  // --- The page. Its sentences are templates, so that they can be translated.

  var checker = document.getElementById("checker");
  if (!checker) return;
  var verdict = document.getElementById("check-verdict");
  var results = document.getElementById("check-results");
  var game = null;

  function sentence(code, number) {
    var template = document.getElementById("says-" + code);
    var said = document.importNode(template.content, true).firstElementChild;
    var place = said.querySelector("[data-number]");
    if (place) place.textContent = number;
    return said;
  }

  function fill(place, sentences) {
    place.textContent = "";
    sentences.forEach(function (one) { place.appendChild(one); });
  }

  function tell(found) {
    var said = found.problems.map(function (problem) {
      return sentence(problem.code, problem.round);
    });
    if (!said.length) said = [sentence(found.rounds.length ? "all" : "nothing")];
    fill(verdict, said);
    fill(results, found.rounds.filter(function (round) {
      return !round.problem;
    }).map(function (round) {
      return sentence("sealed", round.round);
    }));
  }

  // The document has to be of the game and the seal that the page shows.
  function compared(found) {
    if (!isReadable(game) || game.game_id === checker.dataset.game &&
        game.anchor === checker.dataset.anchor) return found;
    return { problems: [{ code: "other", round: null }].concat(found.problems), rounds: found.rounds };
  }

  var asked = null;

  function fetchAndCheck() {
    // An answer that comes late must not speak over that of the latest check.
    if (asked) asked.abort();
    var request = asked = new XMLHttpRequest();
    var failed = function () { fill(verdict, [sentence("unfetched")]); };
    request.open("GET", checker.dataset.document);
    request.timeout = 15000;
    request.onerror = request.ontimeout = failed;
    request.onload = function () {
      if (request.status !== 200) { failed(); return; }
      try {
        game = JSON.parse(request.responseText);
      } catch (error) {
        game = null;
      }
      tell(compared(check(game)));
    };
    request.send();
  }

  function checkWords() {
    var same = game && fingerprint(ownWords.value) === game.words_sha256;
    fill(document.getElementById("words-result"),
      [sentence(!game ? "unfetched" : same ? "own-words" : "other-words")]);
  }

  document.getElementById("check-again").addEventListener("click", fetchAndCheck);
  var ownWords = document.getElementById("own-words");
  if (ownWords) {
    document.getElementById("check-words").addEventListener("click", checkWords);
    ownWords.addEventListener("keydown", function (event) {
      if (event.key === "Enter" && !event.isComposing) checkWords();
    });
  }
  document.getElementById("checker-tools").hidden = false;
  fetchAndCheck();
})();
