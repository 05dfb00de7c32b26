// Reading pages: copying, printing and previews of references. Everything else works without this file.
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

  // On paper, every note is open. Stylesheets can do it in current browsers, this in older ones too.
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll(".notes details:not([open]), .wording details:not([open])"));
    opened.forEach(function (note) { note.open = true; });
    var day = new Date().toLocaleDateString("en-US", { dateStyle: "long" });
    document.querySelectorAll("[data-printed]").forEach(function (place) { place.textContent = " Printed on " + day + "."; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (note) { note.open = false; });
  });

  // What a reference leads to, beside it. The page has it already: looking costs nothing.
  var shown = null, of = null;
  function hide() {
    if (shown) shown.remove();
    if (of) of.removeAttribute("aria-describedby");
    shown = of = null;
  }
  function show(link) {
    var known = document.getElementById(link.dataset.preview);
    if (of === link || !known) return;
    hide();
    of = link;
    shown = document.createElement("div");
    shown.id = "preview";
    shown.setAttribute("role", "tooltip");
    known.childNodes.forEach(function (part) { shown.append(part.cloneNode(true)); });
    document.body.append(shown);
    link.setAttribute("aria-describedby", "preview");
    var place = link.getBoundingClientRect(), size = shown.getBoundingClientRect();
    var above = place.bottom + size.height + 12 > innerHeight && place.top > size.height + 12;
    shown.style.left = Math.max(8, Math.min(place.left, innerWidth - size.width - 8)) + scrollX + "px";
    shown.style.top = (above ? place.top - size.height - 6 : place.bottom + 6) + scrollY + "px";
  }
  document.querySelectorAll("a.ref[data-preview]").forEach(function (link) {
    link.addEventListener("mouseenter", function () { show(link); });
    link.addEventListener("focus", function () { show(link); });
    link.addEventListener("mouseleave", hide);
    link.addEventListener("blur", hide);
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") hide(); });
})();
