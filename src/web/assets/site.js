// The choice between light, dark and what the system says, kept in this browser alone and never in a cookie; and the key
// that leads to the search box.
(function () {
  "use strict";
  var root = document.documentElement;
  function stored() { try { return localStorage.getItem("theme"); } catch (e) { return null; } }
  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme; else delete root.dataset.theme;
  }
  apply(stored());
  root.classList.add("scripted");
  document.addEventListener("keydown", function (event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    var box = document.getElementById("q") || document.getElementById("quick");
    var isElsewhere = !/^(input|select|textarea)$/i.test(event.target.tagName);
    // In the empty box it does nothing: no search begins with it.
    if (box && (isElsewhere || (event.target === box && !box.value))) { event.preventDefault(); box.focus(); box.select(); }
  });
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
