// The documentation: forms that call operations with the reader's key, and buttons that copy. The key is kept for this tab
// alone and sent to this server alone. Without this script the lines for a shell say the same.
(function () {
  "use strict";
  var KEPT = "hornbook-key", SHOWN_MAX = 200000;
  var keyForm = document.getElementById("key-form"), key = document.getElementById("key");

  function kept() { try { return sessionStorage.getItem(KEPT) || ""; } catch (e) { return ""; } }
  function keep(value) {
    try { if (value) sessionStorage.setItem(KEPT, value); else sessionStorage.removeItem(KEPT); } catch (e) { /* It holds for this page. */ }
  }
  // Only pages with operations have the form of the key.
  if (keyForm) {
    key.value = kept();
    key.addEventListener("input", function () { keep(key.value.trim()); });
    keyForm.addEventListener("submit", function (event) { event.preventDefault(); });
    keyForm.addEventListener("reset", function () { keep(""); });
  }

  document.querySelectorAll("button[data-copy]").forEach(function (button) {
    if (!navigator.clipboard) { button.hidden = true; return; }
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.previousElementSibling.textContent).then(function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      });
    });
  });

  function encoded(text) { return encodeURIComponent(text).replace(/'/g, "%27"); }

  // The call as the fields say it.
  function call(form) {
    var path = form.dataset.path, query = [];
    form.querySelectorAll("[data-in]").forEach(function (field) {
      var value = field.value.trim();
      if (field.dataset.in === "path") path = path.replace("{" + field.name + "}", encoded(value) || field.name.toUpperCase());
      else if (value) query.push(field.name + "=" + encoded(value));
    });
    var body = form.elements.body ? form.elements.body.value : null;
    return { path: path + (query.length ? "?" + query.join("&") : ""), body: body };
  }

  function line(form, asked) {
    var parts = [];
    if ("keyed" in form.dataset) parts.push('-H "Authorization: Bearer $HORNBOOK_KEY"');
    if (asked.body !== null) parts.push("--json '" + asked.body.replace(/'/g, "'\\''") + "'");
    parts.push("'" + form.dataset.base + asked.path + "'");
    return "curl " + parts.join(" \\\n  ");
  }

  function element(name, text, className) {
    var made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  var TOLD = ["x-credits-cost", "x-credits-remaining", "x-research-allotment-remaining", "x-ratelimit-limit", "retry-after", "etag", "link"];

  function show(form, answer, text, took) {
    var came = form.querySelector(".came"), list = element("dl", "", "facts"), type = answer.headers.get("content-type") || "";
    came.replaceChildren();
    came.append(element("p", answer.status + " " + answer.statusText + " · " + took + " ms", answer.ok ? "good" : "bad"));
    TOLD.forEach(function (name) {
      var value = answer.headers.get(name);
      if (value === null) return;
      var row = element("div");
      row.append(element("dt", name), element("dd", value));
      list.append(row);
    });
    if (list.children.length) came.append(list);
    if (/json/.test(type)) { try { text = JSON.stringify(JSON.parse(text), null, 2); } catch (e) { /* It is shown as it came. */ } }
    var box = element("pre");
    box.tabIndex = 0;
    box.append(element("code", text.slice(0, SHOWN_MAX)));
    came.append(box);
    if (text.length > SHOWN_MAX) came.append(element("p", "Only the beginning is shown: " + SHOWN_MAX + " of " + text.length + " characters.", "also"));
  }

  document.querySelectorAll("form.try").forEach(function (form) {
    var code = form.previousElementSibling.querySelector("code");
    form.addEventListener("input", function () { code.textContent = line(form, call(form)); });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var asked = call(form), began = performance.now(), button = form.querySelector("button[type=submit]");
      var headers = {};
      if (key.value.trim() && "keyed" in form.dataset) headers.Authorization = "Bearer " + key.value.trim();
      if (asked.body !== null) headers["Content-Type"] = "application/json";
      button.disabled = true;
      fetch(asked.path, { method: form.dataset.method, headers: headers, body: asked.body === null ? undefined : asked.body, credentials: "omit", cache: "no-store" })
        .then(function (answer) {
          return answer.text().then(function (text) { show(form, answer, text, Math.round(performance.now() - began)); });
        })
        .catch(function () { form.querySelector(".came").replaceChildren(element("p", "No answer came. Is the server still there?", "bad")); })
        .then(function () { button.disabled = false; });
    });
  });
})();
