// The contents: levels that open where they stand. Links lead to the same without this script. Arrows: up and down from
// entry to entry, right opens a level or goes into it, left goes back or closes it.
(function () {
  "use strict";
  var roots = document.querySelectorAll("ul.tree");
  if (!roots.length) return;

  function own(item, selector) { return item.querySelector(":scope > " + selector); }

  function prepare(list) {
    list.querySelectorAll("li[data-level]").forEach(function (item) {
      if (own(item, "button")) return;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "twist";
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-label", "Contents of " + own(item, "a").textContent.trim().slice(0, 120));
      item.prepend(button);
    });
  }

  // The list at an address, ready to be put into the page.
  function level(address) {
    return fetch(address, { headers: { Accept: "text/html" } }).then(function (answer) {
      if (!answer.ok) throw new Error(answer.status);
      return answer.text();
    }).then(function (text) {
      var list = new DOMParser().parseFromString(text, "text/html").querySelector("ul.tree");
      prepare(list);
      return document.adoptNode(list);
    });
  }

  function open(item) {
    var button = own(item, "button"), list = own(item, "ul");
    if (!button) return;
    button.setAttribute("aria-expanded", "true");
    if (list) { list.hidden = false; return; }
    if (item.getAttribute("aria-busy")) return;
    item.setAttribute("aria-busy", "true");
    level(item.dataset.level).then(function (found) { item.append(found); }, function () {
      button.setAttribute("aria-expanded", "false");
      // The page of the level says what is the matter.
      location.href = own(item, "a").href;
    }).then(function () { item.removeAttribute("aria-busy"); });
  }

  function close(item) {
    var list = own(item, "ul");
    own(item, "button").setAttribute("aria-expanded", "false");
    if (list) list.hidden = true;
  }

  function isOpen(item) {
    var button = own(item, "button");
    return button && button.getAttribute("aria-expanded") === "true";
  }

  function more(item) {
    var link = own(item, "a");
    item.setAttribute("aria-busy", "true");
    level(link.href).then(function (found) {
      var first = found.querySelector("a");
      item.replaceWith.apply(item, Array.prototype.slice.call(found.children));
      if (first) first.focus();
    }, function () { item.removeAttribute("aria-busy"); link.textContent = "It could not be loaded. Try again"; });
  }

  // The entries that can be seen, from top to bottom.
  function entries() {
    return Array.prototype.filter.call(document.querySelectorAll("ul.tree li > a"), function (link) { return link.offsetParent !== null; });
  }

  function step(link, by) {
    var all = entries(), next = all[all.indexOf(link) + by];
    if (next) next.focus();
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("ul.tree button.twist"), link = event.target.closest("ul.tree li.more > a");
    if (button) { if (isOpen(button.parentNode)) close(button.parentNode); else open(button.parentNode); }
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); more(link.parentNode); }
  });

  document.addEventListener("keydown", function (event) {
    var at = document.activeElement, item = at && at.closest("ul.tree li");
    if (!item || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    var link = own(item, "a"), above = item.parentNode.closest("li");
    if (event.key === "ArrowDown") step(link, 1);
    else if (event.key === "ArrowUp") step(link, -1);
    else if (event.key === "ArrowRight") { if (isOpen(item)) { if (own(item, "ul")) step(link, 1); } else open(item); }
    else if (event.key === "ArrowLeft") { if (isOpen(item)) close(item); else if (above) own(above, "a").focus(); }
    else return;
    event.preventDefault();
  });

  roots.forEach(prepare);
})();
