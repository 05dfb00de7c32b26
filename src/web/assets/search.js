// The search box, of the page or of its header: completions while typing, and arrows through them and through the
// results. The page works without it.
(function () {
  "use strict";
  var box = document.getElementById("q") || document.getElementById("quick");
  if (!box) return;
  var form = box.form, list = null, chosen = -1, typed = box.value, waiting = 0, asked = 0, kept = {};

  function close() {
    if (list) list.remove();
    list = null; chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function part(name, text) {
    var span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    return span;
  }

  function show(suggestions) {
    close();
    if (!suggestions.length || document.activeElement !== box) return;
    list = document.createElement("ul");
    list.id = "suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    suggestions.forEach(function (one, at) {
      var item = document.createElement("li");
      item.id = "suggestion-" + at;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.path = one.url;
      if (one.kind === "citation") {
        item.append(part("kind", "Opens"), part("citation", one.text));
      } else {
        item.append(part("heading", one.text), part("citation", one.count > 1 ? one.count + " provisions" : one.citation));
        if (one.count > 1) item.dataset.path = "/?q=" + encodeURIComponent(one.text);
      }
      item.addEventListener("mousedown", function (event) { event.preventDefault(); location.href = item.dataset.path; });
      list.append(item);
    });
    box.parentNode.append(list);
    box.setAttribute("aria-expanded", "true");
  }

  function ask() {
    var text = box.value.trim();
    typed = text;
    if (text.length < 2) { close(); return; }
    var address = box.dataset.suggest + "?q=" + encodeURIComponent(text);
    var place = form.elements.jurisdiction && form.elements.jurisdiction.value;
    if (place) address += "&jurisdiction=" + encodeURIComponent(place);
    var day = form.elements.asOf && form.elements.asOf.value;
    if (day) address += "&asOf=" + encodeURIComponent(day);
    if (kept[address]) { show(kept[address]); return; }
    var turn = ++asked;
    fetch(address, { headers: { Accept: "application/json" } }).then(function (answer) {
      // Where searching needs an account, it stays refused.
      if (answer.status === 401) box.removeEventListener("input", typing);
      return answer.ok ? answer.json() : { suggestions: [] };
    }).then(function (answer) {
      kept[address] = answer.suggestions;
      if (turn === asked && box.value.trim() === text) show(answer.suggestions);
    }).catch(function () { /* The search works without. */ });
  }

  function typing() { clearTimeout(waiting); waiting = setTimeout(ask, 150); }

  function choose(at) {
    var items = list.children;
    if (chosen >= 0) items[chosen].setAttribute("aria-selected", "false");
    chosen = (at + items.length + 1) % (items.length + 1);
    if (chosen === items.length) chosen = -1;
    if (chosen < 0) { box.removeAttribute("aria-activedescendant"); return; }
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", items[chosen].id);
  }

  if (box.dataset.suggest) {
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", "suggestions");
    box.setAttribute("aria-expanded", "false");
    box.addEventListener("input", typing);
    box.addEventListener("blur", close);
  }

  var hits = Array.prototype.slice.call(document.querySelectorAll(".hit h2 a"));
  function focusHit(at) {
    if (at < 0) box.focus(); else if (at < hits.length) hits[at].focus();
  }

  box.addEventListener("keydown", function (event) {
    var down = event.key === "ArrowDown", up = event.key === "ArrowUp";
    if (list && (down || up)) { event.preventDefault(); choose(chosen + (down ? 1 : -1)); }
    else if (list && event.key === "Enter" && chosen >= 0) { event.preventDefault(); location.href = list.children[chosen].dataset.path; }
    else if (event.key === "Escape") { if (list) { event.preventDefault(); close(); } }
    else if (down && hits.length) { event.preventDefault(); focusHit(0); }
  });
  document.addEventListener("keydown", function (event) {
    var at = hits.indexOf(document.activeElement);
    if (event.defaultPrevented || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "j") { event.preventDefault(); focusHit(at + 1); }
    if (event.key === "ArrowUp" || event.key === "k") { event.preventDefault(); focusHit(at - 1); }
  });
  // Empty choices stay out of the address.
  form.addEventListener("submit", function () {
    form.querySelectorAll("select, input[type=date]").forEach(function (choice) {
      if (!choice.value) choice.disabled = true;
    });
    form.querySelectorAll("input[name=mode]").forEach(function (mode) { if (mode.checked && mode.value === "hybrid") mode.disabled = true; });
  });
  window.addEventListener("pageshow", function () {
    form.querySelectorAll("[disabled]").forEach(function (part) { part.disabled = false; });
  });
})();
