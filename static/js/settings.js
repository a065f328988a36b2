// The settings: the browser's time zone is proposed where none is chosen.
(function () {
  "use strict";

  function propose() {
    var zone = document.getElementById("id_time_zone");
    if (!zone || zone.value || !window.Intl) return;
    var guessed = Intl.DateTimeFormat().resolvedOptions().timeZone;
    var known = Array.prototype.some.call(zone.options, function (option) {
      return option.value === guessed;
    });
    if (!guessed || !known) return;
    zone.value = guessed;
    document.getElementById("time-zone-guessed").hidden = false;
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", propose);
  else propose();
})();
