// Reading pages: copying and printing. Everything else works without this file.
(function () {
  "use strict";
  document.querySelectorAll("button[data-copy]").forEach(function (button) {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.previousElementSibling.textContent).then(function () {
        var before = button.firstChild.data;
        button.firstChild.data = "Copied";
        setTimeout(function () { button.firstChild.data = before; }, 1500);
      });
    });
  });
  document.querySelectorAll("button[data-print]").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () { window.print(); });
  });
})();
