// The choice between light, dark and what the system says. It is kept in this browser alone, never in a cookie.
(function () {
  "use strict";
  var root = document.documentElement;
  function stored() { try { return localStorage.getItem("theme"); } catch (e) { return null; } }
  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme; else delete root.dataset.theme;
  }
  apply(stored());
  root.classList.add("scripted");
  document.addEventListener("DOMContentLoaded", function () {
    var chooser = document.getElementById("theme");
    if (!chooser) return;
    var now = stored() || "system";
    chooser.hidden = false;
    chooser.querySelectorAll("input").forEach(function (choice) {
      choice.checked = choice.value === now;
      choice.addEventListener("change", function () {
        try {
          if (choice.value === "system") localStorage.removeItem("theme"); else localStorage.setItem("theme", choice.value);
        } catch (e) { /* It holds for this page. */ }
        apply(choice.value);
      });
    });
  });
})();
