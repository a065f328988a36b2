// What the replay does beyond plain links, and the file chooser for records.
// Without this file both pages still work.
(function () {
  "use strict";

  var board = function () { return document.getElementById("replay"); };

  // --- Going to a position: the board is exchanged, the address always names what is shown.

  var busy = false;
  var waiting = null;  // a way that was asked for meanwhile
  var SWIPE = 40;

  function link(way) {
    var found = board() && board().querySelector('[data-key="' + way + '"]');
    return found && found.href ? found : null;
  }

  function go(href) {
    if (!window.htmx) { window.location.assign(href); return; }
    busy = true;
    var done = function () {
      busy = false;
      var next = waiting && link(waiting);
      waiting = null;
      if (next) go(next.href);
    };
    window.htmx.ajax("GET", href, { source: document.body, target: "#replay", swap: "outerHTML" })
      .then(done, done);
  }

  function step(way) {
    if (busy) { waiting = way; return; }
    var place = link(way);
    if (place) go(place.href);
  }

  document.addEventListener("click", function (event) {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    var place = event.target.closest && event.target.closest('#replay a[href^="?ply="]');
    if (!place) return;
    event.preventDefault();
    if (place.dataset.key) step(place.dataset.key);
    else if (!busy) go(place.href);
  });

  // --- A board has come

  var open = false;
  var focused = "";

  document.addEventListener("htmx:before:swap", function (event) {
    if (!board()) return;
    var ctx = event.detail.ctx;
    var page = new DOMParser().parseFromString(ctx.text || "", "text/html");
    var polls = ctx.sourceElement !== document.body;
    var late = polls && (busy || ctx.sourceElement !== board());
    if (late || ctx.response.status !== 200 || !page.getElementById("replay")) {
      event.preventDefault();
      if (!polls) window.location.assign(ctx.request.action);
      return;
    }
    var details = board().querySelector("details");
    open = Boolean(details && details.open);
    focused = board().contains(document.activeElement) ? document.activeElement.id : "";
  });

  document.addEventListener("htmx:after:swap", function (event) {
    var here = board();
    if (!here) return;
    here.querySelector("details").open = open;
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
    focused = "";
    var waits = /^\(\d+\) /.exec(document.title);  // how many games do
    document.title = (waits ? waits[0] : "") + here.dataset.title;
    window.history.replaceState(null, "", event.detail.ctx.request.action);
    announce(here.dataset.announce);
  });

  function failed(event) {
    var ctx = event.detail.ctx;
    if (!board() || !ctx || ctx.sourceElement !== document.body) return;
    window.location.assign(ctx.request.action);  // the browser says what is wrong
  }
  document.addEventListener("htmx:error", failed);
  document.addEventListener("htmx:response:error", failed);

  document.addEventListener("htmx:before:request", function (event) {
    var polls = board() && event.detail.ctx.sourceElement === board();
    if (polls && (document.hidden || busy)) event.preventDefault();
  });

  function announce(text) {
    var place = document.getElementById("announcer");
    place.textContent = "";  // equal text is spoken again only when it was away for a moment
    window.setTimeout(function () { place.textContent = text; }, 100);
  }

  // --- Keys and fingers: forward is where one reads on.

  function rightIsForward() {
    return window.getComputedStyle(document.documentElement).direction !== "rtl";
  }

  function towardsRight(right) { return right === rightIsForward() ? "forward" : "back"; }

  document.addEventListener("keydown", function (event) {
    if (!board() || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    var way = {
      ArrowLeft: towardsRight(false), ArrowRight: towardsRight(true), Home: "Home", End: "End"
    }[event.key];
    if (!way) return;
    event.preventDefault();
    step(way);
  });

  var from = null;

  document.addEventListener("touchstart", function (event) {
    var touch = event.touches.length === 1 && event.target.closest("#replay") && event.touches[0];
    from = touch ? { x: touch.clientX, y: touch.clientY } : null;
  }, { passive: true });

  document.addEventListener("touchend", function (event) {
    var touch = event.changedTouches[0];
    if (!from || !touch) return;
    var x = touch.clientX - from.x;
    var y = touch.clientY - from.y;
    from = null;
    // A page that is pushed to the right shows what came before it.
    if (Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) step(towardsRight(x < 0));
  }, { passive: true });

  document.addEventListener("touchcancel", function () { from = null; });

  // --- A record out of a file: it is read here and goes into the form as text.

  function offerFiles() {
    var place = document.querySelector("[data-file-chooser]");
    if (!place) return;
    var chooser = place.querySelector("input");
    var tooLarge = document.querySelector("[data-too-large]");
    place.hidden = false;
    chooser.addEventListener("change", function () {
      var file = chooser.files[0];
      if (!file) return;
      tooLarge.hidden = file.size <= Number(chooser.dataset.most);
      if (!tooLarge.hidden) return;
      var reader = new FileReader();
      reader.onload = function () {
        document.querySelector("textarea[name=text]").value = reader.result;
      };
      reader.readAsText(file);
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", offerFiles);
  else offerFiles();
})();
