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
    keepNotices();
    dropNotices(["not-sent", "not-renewed", "refused"]);
    if (board.dataset.title) document.title = board.dataset.title;
    announce(board.dataset.announce);
    followSteps();
    light();
    var lost = !document.activeElement || document.activeElement === document.body;
    var status = show("status");
    if (status && (moveFocus || lost)) status.focus();
    dealAtOnce();
  }

  function dealAtOnce() {
    var form = document.querySelector("form[data-deal-at-once]");
    if (!form || !window.crypto) return;
    form.removeAttribute("data-deal-at-once");
    var bytes = window.crypto.getRandomValues(new Uint8Array(16));
    form.elements.words.value = Array.prototype.map.call(bytes, function (byte) {
      return "bdfghklmnprstvwz"[byte >> 4] + "aeiou"[byte % 5];
    }).join("").replace(/(.{8})(?=.)/g, "$1 ");
    form.querySelector("button[type=submit]").click();
  }

  // --- Requests (htmx)

  var openDetails = [];
  var takesFocus = false;

  function isPoll(ctx) { return ctx.sourceElement && ctx.sourceElement.id === "table"; }

  document.addEventListener("htmx:before:request", function (event) {
    if (document.hidden && isPoll(event.detail.ctx)) event.preventDefault();
  });

  document.addEventListener("htmx:before:swap", function (event) {
    var ctx = event.detail.ctx;
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
    var same = board && next.dataset.version === board.dataset.version &&
      next.dataset.phase === board.dataset.phase;
    if (isPoll(ctx) && same) {
      event.preventDefault();
      dropNotices(["not-renewed"]);
      return;
    }
    openDetails = all("#table details[open]").map(function (one) { return one.id; });
    takesFocus = !isPoll(ctx) && Boolean(board && board.contains(document.activeElement));
  });

  document.addEventListener("htmx:after:swap", function () {
    openDetails.forEach(function (id) { if (show(id)) show(id).open = true; });
    renewed(takesFocus);
  });

  function failed(event) {
    var ctx = event.detail.ctx;
    if (!ctx) return;
    if (isPoll(ctx)) {
      if (!document.querySelector('#notices [data-kind="not-renewed"]')) notify("not-renewed");
      return;
    }
    var notice = notify("not-sent");
    var retry = notice && notice.querySelector("[data-retry]");
    if (!retry) return;
    retry.addEventListener("click", function () {
      var form = ctx.sourceElement;
      var button = form.isConnected && form.querySelector("button[type=submit]");
      notice.remove();
      if (button) button.click(); else window.location.reload();
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
    if (table() && table().dataset.version) renewBoard(); else window.location.reload();
  });

  document.addEventListener("visibilitychange", function () {
    var board = table();
    if (!document.hidden && board && board.dataset.phase === "wait" && window.htmx) {
      window.htmx.trigger(board, "every");
    }
  });

  // --- Clicks and keys

  document.addEventListener("change", light);
  document.addEventListener("reset", function () { window.setTimeout(light); });

  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("[data-dismiss],[data-opens]");
    if (!link) return;
    if (link.dataset.opens) {
      if (openHelp()) event.preventDefault();
      return;
    }
    event.preventDefault();
    link.closest(".notice").remove();
    if (show("status")) show("status").focus();
  });

  function openHelp() {
    var dialog = show("keys-dialog");
    if (!dialog || !dialog.showModal) return false;
    dialog.showModal();
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
    if (on.closest("dialog[open], select, textarea, input:not([type=radio])")) return;
    var key = digit(event);
    if (key) {
      if (pick(key)) event.preventDefault();
    } else if (event.key === "?" || event.key === "؟") {
      if (openHelp()) event.preventDefault();
    } else if (event.key === "Escape" && chosen()) {
      var was = chosen();
      was.form.reset();
      was.focus();
    } else if (event.key === "Enter" && chosen() && !on.closest("a, button, summary")) {
      event.preventDefault();  // on a radio the browser would send the form a second time
      if (!event.repeat) chosen().form.querySelector("button[type=submit]").click();
    }
  });

  function start() {
    keepNotices();
    followSteps();
    light();
    // htmx takes hold of the forms in a task of its own that was queued before this one.
    window.setTimeout(dealAtOnce);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
