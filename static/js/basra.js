// What the table does beyond plain HTML. Without this file every page still works.
(function () {
  "use strict";

  var table = function () { return document.getElementById("table"); };
  var show = function (id) { return document.getElementById(id); };
  var all = function (selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  };

  // --- Notices stand above the board, so that a new board does not take them away.

  function dropNotices(kinds) {
    all("#notices .notice").forEach(function (notice) {
      if (kinds.indexOf(notice.dataset.kind) >= 0) notice.remove();
    });
  }

  function notify(id, sentence) {
    var template = show(id);
    var place = show("notices");
    if (!template || !place) return null;
    dropNotices([id]);
    var notice = document.importNode(template.content, true).firstElementChild;
    if (sentence) notice.querySelector("[data-sentence]").textContent = sentence;
    place.appendChild(notice);
    return notice;
  }

  function keepNotices() {
    var place = show("notices");
    if (!place) return;
    all("#table > .notice").forEach(function (notice) { place.appendChild(notice); });
  }

  // --- The chosen card, and what it would take.

  function chosen() {
    var board = table();
    return board && board.querySelector(".pick:checked");
  }

  function light() {
    var board = table();
    if (!board) return;
    var pick = chosen();
    var takes = [];
    if (pick) {
      var preview = board.querySelector('.preview[data-for="' + pick.dataset.key + '"]');
      var option = preview.querySelector("input:checked") || preview.querySelector("[data-takes]");
      takes = option ? option.dataset.takes.trim().split(" ") : [];
    }
    all(".floor [data-card]", board).forEach(function (place) {
      place.classList.toggle("taken", takes.indexOf(place.dataset.card) >= 0);
    });
  }

  function pick(key) {
    var board = table();
    var input = board && board.querySelector('.pick[data-key="' + key + '"]');
    if (!input) return false;
    input.checked = true;
    input.focus();
    light();
    return true;
  }

  // --- A board has come: tell it, and never lose the focus.

  var told = null;

  function announce(text) {
    var place = show("announcer");
    if (!place) return;
    place.textContent = "";  // equal text is spoken again only when it was away for a moment
    window.setTimeout(function () { place.textContent = text; }, 100);
  }

  // The plays arrive one after the other (see the sheet); where they do not all fit, follow them.
  function followSteps() {
    var steps = document.querySelector("#table .steps");
    var list = steps && steps.querySelector("ol");
    if (!list) return;
    var still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    all("li", list).forEach(function (step, index) {
      window.setTimeout(function () {
        var end = step.offsetTop - list.offsetTop + step.offsetHeight;
        steps.scrollTop = end - list.offsetHeight;  // counted from the end: column-reverse
      }, still ? 0 : Math.min(index, 3) * 500);
    });
  }

  function renewed(moveFocus) {
    var board = table();
    if (!board || !board.dataset.phase) return;
    tellWaiting(board.dataset.waiting);
    // Plays are spoken once; where none was made, only what is new.
    announce(board.dataset.version === told ? board.dataset.news : board.dataset.announce);
    told = board.dataset.version;
    followSteps();
    light();
    var lost = !document.activeElement || document.activeElement === document.body;
    var status = show("status");
    if (status && (moveFocus || lost)) status.focus();
  }

  // --- How many games wait for me: in the title, and wherever the page shows it.

  function tellWaiting(count) {
    var board = table();
    var title = (board && board.dataset.title) || document.title.replace(/^\(\d+\) /, "");
    document.title = (Number(count) ? "(" + count + ") " : "") + title;
    all("[data-count]").forEach(function (place) { place.textContent = count; });
    all("[data-next]").forEach(function (link) { link.hidden = !Number(count); });
  }

  // --- Words for the shuffle: made here, where the server cannot know them beforehand.

  function proposeWords() {
    var form = document.querySelector(".deal-form");
    var words = form && form.elements.words;
    if (!words || !window.crypto || !words.hasAttribute("data-proposed")) return;
    words.removeAttribute("data-proposed");  // once: what Back brings up again may be typed
    var bytes = window.crypto.getRandomValues(new Uint8Array(16));
    words.value = Array.prototype.map.call(bytes, function (byte) {
      return "bdfghklmnprstvwz"[byte >> 4] + "aeiou"[byte % 5];
    }).join("").replace(/(.{8})(?=.)/g, "$1 ");
    if (!form.hasAttribute("data-deal-at-once")) return;
    form.removeAttribute("data-deal-at-once");
    form.querySelector("button[type=submit]").click();
  }

  // --- What was chosen and typed on a board survives a new one, where it is still there.

  var FOCUSABLE = "a, button, input, select, summary, [tabindex]";

  function placeOf(element) {
    var root = element.closest("[id]");
    if (root === element) return { id: element.id, index: -1 };
    return { id: root.id, index: all(FOCUSABLE, root).indexOf(element) };
  }

  function elementAt(place) {
    var root = show(place.id);
    return root && place.index >= 0 ? all(FOCUSABLE, root)[place.index] : root;
  }

  function keepChoices(board) {
    var focused = document.activeElement;
    return {
      chosen: all("input[type=radio]:checked", board).map(function (input) {
        return [input.name, input.value];
      }),
      focus: board.contains(focused) && focused !== board ? placeOf(focused) : null
    };
  }

  function restoreChoices(kept) {
    var board = table();
    all("input[type=radio]", board).forEach(function (input) {
      if (kept.chosen.some(function (one) { return one[0] === input.name && one[1] === input.value; })) {
        input.checked = true;
      }
    });
    var focused = kept.focus && elementAt(kept.focus);
    if (focused) focused.focus();
  }

  // --- Requests (htmx)

  var HIDDEN_POLL = 60000;
  var openDetails = [];
  var kept = null;
  var takesFocus = false;
  var lastPoll = Date.now();

  // Noted when a request begins: after the swap htmx names the new board as its source.
  var polls = [];
  var sent = [];
  function isPoll(ctx) { return polls.indexOf(ctx) >= 0; }
  function isOfTable(ctx) { return isPoll(ctx) || sent.indexOf(ctx) >= 0; }
  function forget(list, ctx) {
    if (list.indexOf(ctx) >= 0) list.splice(list.indexOf(ctx), 1);
  }

  function isHint(ctx) { return ctx.sourceElement.id === "hint"; }
  // Whether a card, or whatever else changes the game, is on its way.
  function isActing() { return sent.some(function (ctx) { return !isHint(ctx); }); }

  // A poll and a hint leave everything where it is on the board.
  function keepsPlace(ctx) { return isPoll(ctx) || isHint(ctx); }

  // The part of a board's tag that says which board it is; the rest counts other games.
  function boardTag(board) { return board.getAttribute("hx-ptag").split(":")[0]; }

  // A poll and a hint wait while a card is on its way; in a hidden tab a poll comes once a minute.
  document.addEventListener("htmx:before:request", function (event) {
    var ctx = event.detail.ctx;
    var source = ctx.sourceElement;
    var now = Date.now();
    if (source.id !== "table" && source.id !== "offer") {
      if (isHint(ctx) && isActing()) event.preventDefault();
      else if (source.closest("#table")) sent.push(ctx);
    } else if (sent.length || (document.hidden && now - lastPoll < HIDDEN_POLL)) {
      event.preventDefault();
    } else {
      if (source.id === "table") polls.push(ctx);
      lastPoll = now;
    }
  });

  document.addEventListener("htmx:finally:request", function (event) {
    forget(polls, event.detail.ctx);
    forget(sent, event.detail.ctx);
  });

  document.addEventListener("htmx:before:swap", function (event) {
    var ctx = event.detail.ctx;
    if (!isOfTable(ctx)) return;
    if (ctx.response.status === 304) {
      event.preventDefault();
      dropNotices(["not-renewed"]);
      return;
    }
    var board = table();
    var page = new DOMParser().parseFromString(ctx.text || "", "text/html");
    var next = page.getElementById("table");
    if (ctx.response.status >= 500) {
      event.preventDefault();
      return;
    }
    if (!next || !next.dataset.version) {
      // Not a board: an error in words. The board that is here stays.
      event.preventDefault();
      var sentence = page.querySelector("[data-sentence]");
      if (!sentence) notify("not-sent");
      else if (!isPoll(ctx) || !document.querySelector('#notices [data-kind="refused"]')) {
        notify("refused", sentence.textContent);
      }
      return;
    }
    if (isPoll(ctx) && (sent.length || boardTag(next) === boardTag(board))) {
      event.preventDefault();
      dropNotices(["not-renewed"]);
      if (!sent.length) tellWaiting(next.dataset.waiting);
      // hx-ptag has noted the board that is not shown; the next poll must bring it.
      else if (board._htmx) board._htmx.ptag = board.getAttribute("hx-ptag");
      return;
    }
    if (isHint(ctx) && isActing()) {
      // It would take away the form that the answer to the card is for.
      event.preventDefault();
      return;
    }
    kept = keepsPlace(ctx) ? keepChoices(board) : null;
    openDetails = all("#table details[open]").map(function (one) { return one.id; });
    takesFocus = !keepsPlace(ctx) && Boolean(board && board.contains(document.activeElement));
  });

  document.addEventListener("htmx:after:swap", function (event) {
    if (!isOfTable(event.detail.ctx)) {
      if (show("offer") && show("status")) offerAnswered();
      return;
    }
    openDetails.forEach(function (id) { if (show(id)) show(id).open = true; });
    dropNotices(["not-sent", "not-renewed", "refused", "offered"]);
    keepNotices();  // before the places on the board are counted
    if (kept) restoreChoices(kept);
    kept = null;
    renewed(takesFocus);
  });

  // The page of an offer of mine, when something has become of it.
  function offerAnswered() {
    announce(show("status").textContent);
    if (!document.activeElement || document.activeElement === document.body) show("status").focus();
  }

  function failed(event) {
    var ctx = event.detail.ctx;
    if (!ctx || !isOfTable(ctx)) return;
    if (isPoll(ctx)) {
      if (!document.querySelector('#notices [data-kind="not-renewed"]')) notify("not-renewed");
      return;
    }
    var notice = notify("not-sent");
    var retry = notice && notice.querySelector("[data-retry]");
    if (!retry) return;
    retry.addEventListener("click", function () {
      var source = ctx.sourceElement;
      var button = source.form ? source : source.querySelector("button[type=submit]");
      notice.remove();
      if (button && button.isConnected) button.click(); else window.location.reload();
    });
    retry.focus();
  }
  document.addEventListener("htmx:error", failed);
  document.addEventListener("htmx:response:error", function (event) {
    if (event.detail.ctx.response.status >= 500) failed(event);
  });

  // Renew the board in place; nothing can be done on it meanwhile.
  function renewBoard() {
    var board = table();
    if (!board || !window.htmx) { window.location.reload(); return; }
    var focused = document.activeElement;
    var done = function () {
      board.inert = false;
      if (focused && focused.isConnected) focused.focus();
    };
    board.inert = true;
    window.htmx.ajax("GET", board.dataset.here, { source: board, target: "#table", swap: "outerHTML" })
      .then(done, done);
  }

  // --- Plain forms are sent once; a page that Back brought up again renews itself.

  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.hasAttribute("hx-post") && window.htmx) return;
    if (form.method === "dialog") return;
    if (form.dataset.sent) event.preventDefault();
    else form.dataset.sent = "yes";
  });

  window.addEventListener("pageshow", function (event) {
    all("form[data-sent]").forEach(function (form) { delete form.dataset.sent; });
    if (!event.persisted) return;
    sent.length = 0;  // what was on its way when the page went away
    if (table() && table().dataset.version) renewBoard(); else window.location.reload();
  });

  document.addEventListener("visibilitychange", function () {
    var open = table() || show("offer");
    if (!document.hidden && open && open.hasAttribute("hx-get") && window.htmx) {
      window.htmx.trigger(open, "every");
    }
  });

  // --- Clicks and keys

  document.addEventListener("change", light);
  // Who changes a value of the rules means to play by it.
  document.addEventListener("change", function (event) {
    var custom = document.querySelector('input[name="rule_set"][value="custom"]');
    if (custom && event.target.closest(".custom-rules")) custom.checked = true;
  });
  document.addEventListener("reset", function () { window.setTimeout(light); });

  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("[data-dismiss],[data-opens],[data-copies]");
    if (!link) return;
    if (link.dataset.copies) {
      show(link.dataset.copies).select();
      if (!document.execCommand("copy")) return;  // works over plain HTTP as well
      link.focus();
      link.textContent = link.dataset.copied;
      announce(link.dataset.copied);
      return;
    }
    if (link.hasAttribute("data-opens")) {
      if (openHelp(link)) event.preventDefault();
      return;
    }
    event.preventDefault();
    link.closest(".notice").remove();
    if (show("status")) show("status").focus();
  });

  // The keys stand on the rules page; they are fetched when somebody asks for them.
  function openHelp(link) {
    var dialog = show("keys-dialog");
    if (!link || !window.fetch || !window.HTMLDialogElement) return false;
    if (dialog) {
      dialog.showModal();
      return true;
    }
    fetch(link.href).then(function (answer) { return answer.text(); }).then(function (text) {
      var keys = new DOMParser().parseFromString(text, "text/html").getElementById("keys");
      dialog = document.createElement("dialog");
      dialog.id = "keys-dialog";
      dialog.setAttribute("aria-label", keys.querySelector("h2").textContent);
      keys.querySelector("form").hidden = false;
      while (keys.firstChild) dialog.appendChild(keys.firstChild);
      document.body.appendChild(dialog);
      dialog.showModal();
    }).catch(function () { window.location.assign(link.href); });
    return true;
  }

  function digit(event) {
    var found = /^(?:Digit|Numpad)([1-4])$/.exec(event.code || "");
    return found && !event.shiftKey ? found[1] : null;
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (table() && table().inert) return;
    var on = event.target;
    if (on.closest("dialog[open], select, textarea, input:not(.pick,[type=radio])")) return;
    var key = digit(event);
    if (key) {
      if (pick(key)) event.preventDefault();
    } else if (event.key === "?" || event.key === "؟") {
      if (openHelp(document.querySelector("[data-opens]"))) event.preventDefault();
    } else if (event.code === "KeyN" && !event.shiftKey) {
      var next = document.querySelector("[data-next]:not([hidden])");
      if (next) next.click();
    } else if (event.code === "KeyH" && !event.shiftKey && !event.repeat && show("hint")) {
      if (show("hint").form) show("hint").click(); else show("hint").focus();
    } else if (event.key === "Escape" && document.querySelector("[data-escape]")) {
      document.querySelector("[data-escape]").click();
    } else if (event.key === "Escape" && chosen()) {
      var was = chosen();
      was.form.reset();
      was.focus();
    } else if (event.key === "Enter" && chosen() && !on.closest("a, button, summary")) {
      event.preventDefault();  // on a radio the browser would send the form a second time
      if (!event.repeat) chosen().form.querySelector("button[type=submit]").click();
    }
  });

  // --- The browser remembers the anchor of each game, and says loudly when one has changed.

  var ANCHOR_OF = "basra.anchor.";
  var MOST_ANCHORS = 200;

  function rememberAnchors() {
    all("[data-anchor-of]").forEach(function (place) {
      try {
        remember(window.localStorage, ANCHOR_OF + place.dataset.anchorOf, place.dataset.anchor);
      } catch (error) {
        // A private window may have no memory, or a full one.
      }
    });
  }

  // Stored are the anchor and when the game was seen last, so that the oldest can go.
  function remember(memory, key, anchor) {
    var before = (memory.getItem(key) || anchor).split(" ")[0];
    if (before !== anchor) {
      shoutAnchor(before, anchor);
      return;
    }
    memory.setItem(key, anchor + " " + Date.now());
    var kept = Object.keys(memory).filter(function (one) { return one.indexOf(ANCHOR_OF) === 0; });
    if (kept.length <= MOST_ANCHORS) return;
    var seen = function (one) { return Number(memory.getItem(one).split(" ")[1]) || 0; };
    kept.sort(function (one, other) { return seen(other) - seen(one); });
    kept.slice(MOST_ANCHORS).forEach(function (one) { memory.removeItem(one); });
  }

  function shoutAnchor(before, now) {
    var template = show("anchor-changed");
    if (!template || document.querySelector('[data-kind="anchor-changed"]')) return;
    var notice = document.importNode(template.content, true).firstElementChild;
    notice.querySelector("[data-before]").textContent = before;
    notice.querySelector("[data-now]").textContent = now;
    // Outside of everything that is swapped: it stays.
    show("main").insertBefore(notice, show("main").firstChild);
  }

  document.addEventListener("htmx:after:swap", rememberAnchors);

  function start() {
    rememberAnchors();
    keepNotices();
    told = table() && table().dataset.version;
    all("[data-copies]").forEach(function (button) { button.hidden = false; });
    followSteps();
    light();
    proposeWords();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
