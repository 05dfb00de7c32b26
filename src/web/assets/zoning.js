// The zoning map: moving, zooming, pointing, choosing and finding zones. What it shows of a zone is also in the table below it;
// the page works without this file.
(function () {
  "use strict";
  var map = document.getElementById("map");
  if (!map) return;
  if (!window.hornbookTiles || !window.fetch) { map.hidden = true; return; }
  var stage = map.querySelector(".canvas"), report = map.querySelector(".map-report"), said = document.getElementById("map-said");
  var panel = document.getElementById("zone"), canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.setAttribute("aria-hidden", "true");
  stage.append(canvas);

  var SIDE = 512, OVER_ZOOM = 2, DRAG_MIN = 5, zoomMax = Number(map.dataset.zoomMax);
  var bbox = map.dataset.bbox.split(",").map(Number), isCalm = matchMedia("(prefers-reduced-motion: reduce)");
  var view = { x: 0.5, y: 0.5, zoom: 1 }, width = 0, height = 0, ratio = 1, frame = 0, moving = null;
  var zones = [], categories = [], hovered = null, chosen = null, chosenZone = null, pointer = null, isFirst = true;

  var tiles = window.hornbookTiles({
    parts: map.dataset.parts, pass: map.dataset.pass, grid: Number(map.dataset.grid),
    isHatched: function (zone) { return map.dataset.hatched !== undefined && Boolean(zones[zone] && zones[zone].reason); },
    label: function (tile, at) { return zones[tile.zones[at]] ? zones[tile.zones[at]].code : ""; },
    changed: function () { draw(); },
    failed: function (status, wait) {
      if (status === 404 || status === 403) tell("The law on this server has changed. Reload the page to see the map.");
      else if (status === 429) tell("Too many requests: the map goes on in " + wait + " seconds.");
      else tell("A part of the map could not be loaded; trying again.");
    }
  });

  function tell(text) {
    report.textContent = text;
    report.hidden = !text;
  }

  /* The world is a square from 0 to 1. */
  function project(lon, lat) {
    var sine = Math.sin(Math.max(-85.0511, Math.min(85.0511, lat)) * Math.PI / 180);
    return { x: (lon + 180) / 360, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
  }
  function degrees(x, y) {
    return { lon: x * 360 - 180, lat: Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI };
  }
  function scale(zoom) { return SIDE * Math.pow(2, zoom); }
  function world(px, py) {
    var size = scale(view.zoom);
    return { x: view.x + (px - width / 2) / size, y: view.y + (py - height / 2) / size };
  }

  function corners(box) { return { from: project(box[0], box[3]), to: project(box[2], box[1]) }; }
  var whole = corners(bbox), shown = map.dataset.shown && corners(map.dataset.shown.split(",").map(Number));
  // Coordinates are one point, which is marked.
  var pin = shown && shown.from.x === shown.to.x && shown.from.y === shown.to.y ? shown.from : null;
  function fitted(from, to, zoomAtMost) {
    var space = Math.max(to.x - from.x, 1e-9), tall = Math.max(to.y - from.y, 1e-9);
    var zoom = Math.min(Math.log2((width - 32) / SIDE / space), Math.log2((height - 32) / SIDE / tall), zoomAtMost);
    return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, zoom: zoom };
  }
  function clamped(to) {
    var least = Math.min(fitted(whole.from, whole.to, zoomMax).zoom - 1, zoomMax);
    var clamp = function (value, low, high) { return Math.max(low, Math.min(high, value)); };
    return {
      x: clamp(to.x, whole.from.x, whole.to.x), y: clamp(to.y, whole.from.y, whole.to.y),
      zoom: clamp(to.zoom, Math.max(0, least), zoomMax + OVER_ZOOM)
    };
  }

  function set(to) { view = clamped(to); note(); draw(); }

  /** Moves there, gently unless that is unwanted. */
  function go(to) {
    to = clamped(to);
    if (isCalm.matches) { set(to); return; }
    var from = view, began = performance.now();
    moving = function (now) {
      var share = Math.min(1, (now - began) / 180), eased = share * (2 - share);
      view = { x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased, zoom: from.zoom + (to.zoom - from.zoom) * eased };
      if (share === 1) { moving = null; note(); }
    };
    draw();
  }

  /** The same place of the map stays under the pointer. */
  function zoomedAt(px, py, zoom) {
    var at = world(px, py);
    zoom = clamped({ x: view.x, y: view.y, zoom: zoom }).zoom;
    var size = scale(zoom);
    return { x: at.x - (px - width / 2) / size, y: at.y - (py - height / 2) / size, zoom: zoom };
  }

  /* Drawing */
  function draw() { if (!frame) frame = requestAnimationFrame(painted); }

  function visible(z) {
    var side = scale(view.zoom - z), west = view.x * Math.pow(2, z) - width / 2 / side, north = view.y * Math.pow(2, z) - height / 2 / side;
    var most = Math.pow(2, z) - 1, clamp = function (value) { return Math.max(0, Math.min(most, value)); };
    return {
      side: side, west: west, north: north,
      x0: clamp(Math.floor(west)), x1: clamp(Math.floor(west + width / side)), y0: clamp(Math.floor(north)), y1: clamp(Math.floor(north + height / side))
    };
  }
  function zoomOfTiles() { return Math.max(0, Math.min(zoomMax, Math.round(view.zoom))); }

  /** A bitmap of a tile; of the nearest tile above it where it is not drawn yet, its part. */
  function paintTile(z, x, y, left, top, right, bottom, isWanted) {
    var tile = tiles.get(z, x, y, isWanted);
    if (tile && tile.bitmap) {
      pen.drawImage(tile.bitmap, left, top, right - left, bottom - top);
      if (tile.mark) pen.drawImage(tile.mark, left, top, right - left, bottom - top);
      return true;
    }
    for (var up = 1; up <= 5 && z - up >= 0; up++) {
      var above = tiles.get(z - up, x >> up, y >> up, false);
      if (!above || !above.bitmap) continue;
      var part = above.bitmap.width / (1 << up), mask = (1 << up) - 1;
      pen.drawImage(above.bitmap, (x & mask) * part, (y & mask) * part, part, part, left, top, right - left, bottom - top);
      return false;
    }
    if (z < zoomMax && isWanted) {
      for (var child = 0; child < 4; child++) {
        var cx = child & 1, cy = child >> 1, mx = (left + right) / 2, my = (top + bottom) / 2;
        var below = tiles.get(z + 1, x * 2 + cx, y * 2 + cy, false);
        if (below && below.bitmap) pen.drawImage(below.bitmap, cx ? mx : left, cy ? my : top, (right - left) / 2, (bottom - top) / 2);
      }
    }
    return false;
  }

  function painted(now) {
    frame = 0;
    if (moving) moving(now);
    var work = tiles.work(isFirst ? 40 : 6), z = zoomOfTiles(), seen = visible(z), isWhole = true;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.imageSmoothingEnabled = Math.abs(view.zoom - z) > 0.001;
    var across = function (x) { return Math.round((x - seen.west) * seen.side * ratio); };
    var down = function (y) { return Math.round((y - seen.north) * seen.side * ratio); };
    for (var y = seen.y0; y <= seen.y1; y++) {
      for (var x = seen.x0; x <= seen.x1; x++) {
        isWhole = paintTile(z, x, y, across(x), down(y), across(x + 1), down(y + 1), true) && isWhole;
      }
    }
    outline(seen, z, chosen, 3.5, "--accent");
    if (hovered !== chosen) outline(seen, z, hovered, 2, "--ink");
    if (pin) pinned();
    if (stage.matches(":focus-visible")) crosshair();
    tiles.forget();
    if (isWhole && isFirst) { isFirst = false; performance.mark("map-whole"); map.dataset.state = "drawn"; }
    if (!work.isDone || moving) draw();
  }

  /** The edge of one feature, over the tiles. */
  function outline(seen, z, feature, wide, colour) {
    if (feature === null) return;
    pen.strokeStyle = look[colour];
    pen.lineWidth = wide * ratio;
    pen.lineJoin = "round";
    for (var y = seen.y0; y <= seen.y1; y++) {
      for (var x = seen.x0; x <= seen.x1; x++) {
        var tile = tiles.get(z, x, y, false);
        if (!tile) continue;
        pen.save();
        pen.translate((x - seen.west) * seen.side * ratio, (y - seen.north) * seen.side * ratio);
        pen.beginPath();
        pen.rect(0, 0, seen.side * ratio, seen.side * ratio);
        pen.clip();
        pen.beginPath();
        if (tiles.trace(pen, tile, feature, seen.side * ratio / tile.grid)) pen.stroke();
        pen.restore();
      }
    }
  }

  function pinned() {
    var size = scale(view.zoom), x = ((pin.x - view.x) * size + width / 2) * ratio, y = ((pin.y - view.y) * size + height / 2) * ratio;
    [["--paper", 9], ["--accent", 6]].forEach(function (dot) {
      pen.fillStyle = look[dot[0]];
      pen.beginPath();
      pen.arc(x, y, dot[1] * ratio, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  function crosshair() {
    var x = Math.round(canvas.width / 2), y = Math.round(canvas.height / 2), arm = 10 * ratio;
    [["--paper", 5], ["--focus", 2]].forEach(function (line) {
      pen.strokeStyle = look[line[0]];
      pen.lineWidth = line[1] * ratio;
      pen.beginPath();
      pen.moveTo(x - arm, y); pen.lineTo(x + arm, y); pen.moveTo(x, y - arm); pen.lineTo(x, y + arm);
      pen.stroke();
    });
  }

  /* Colours of the page, read again when they change */
  var look = {};
  function readColours() {
    var style = getComputedStyle(document.documentElement);
    ["--accent", "--ink", "--paper", "--focus", "--warn"].forEach(function (name) { look[name] = style.getPropertyValue(name).trim(); });
    var of = [], colour;
    while ((colour = style.getPropertyValue("--zone-" + of.length).trim())) of.push(colour);
    tiles.look({
      zones: of, line: style.getPropertyValue("--zone-line").trim(), pattern: style.getPropertyValue("--zone-pattern").trim(),
      hatch: style.getPropertyValue("--zone-hatch").trim(), halo: look["--paper"], ink: look["--ink"], chosen: look["--accent"]
    }, ratio);
    draw();
  }
  new MutationObserver(readColours).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

  function measure() {
    var was = width;
    width = stage.clientWidth; height = stage.clientHeight;
    var pixels = Math.min(3, window.devicePixelRatio || 1), isOther = pixels !== ratio || !was;
    ratio = pixels;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    if (!was) readAddress();
    if (isOther) readColours();
    draw();
  }

  /* The address: ?zone=R-1#12/42.37/-71.11 */
  var noting = 0;
  function note() {
    clearTimeout(noting);
    noting = setTimeout(function () {
      var at = degrees(view.x, view.y), query = new URLSearchParams(location.search);
      if (chosenZone === null) query.delete("zone"); else query.set("zone", zones[chosenZone].code);
      var search = query.toString();
      history.replaceState(history.state, "", (search ? "?" + search : location.pathname) + "#" + view.zoom.toFixed(2) + "/" + at.lat.toFixed(5) + "/" + at.lon.toFixed(5));
    }, 250);
  }
  function placeOfAddress() {
    var parts = location.hash.slice(1).split("/").map(Number);
    if (parts.length !== 3 || !parts.every(Number.isFinite)) return null;
    var at = project(parts[2], parts[1]);
    return { x: at.x, y: at.y, zoom: parts[0] };
  }
  function readAddress() {
    view = clamped(placeOfAddress() || (shown ? fitted(shown.from, shown.to, Math.min(zoomMax, 16)) : fitted(whole.from, whole.to, zoomMax)));
  }
  window.addEventListener("hashchange", function () { var to = placeOfAddress(); if (to) { view = clamped(to); draw(); } });

  /* Choosing */
  function under(px, py) {
    var z = zoomOfTiles(), at = world(px, py), n = Math.pow(2, z);
    var x = Math.floor(at.x * n), y = Math.floor(at.y * n), tile = tiles.get(z, x, y, false);
    if (!tile) return null;
    var found = tiles.at(tile, (at.x * n - x) * tile.grid, (at.y * n - y) * tile.grid);
    if (found < 0) return null;
    var feature = tile.features[found], name = tile.names[feature];
    return { feature: feature, zone: tile.zones[found], category: tile.categories[found], name: name && plain(name) };
  }

  function choose(found) {
    if (!found) { letGo(); return; }
    chosen = found.feature;
    show(found.zone, found.name, found.category);
    // Below the map, the panel may be out of sight: both fit the screen together.
    if (panel.getBoundingClientRect().top > window.innerHeight * 0.9) map.scrollIntoView({ block: "start" });
  }
  function letGo() {
    chosen = chosenZone = null;
    tiles.mark(null);
    panel.hidden = true;
    said.textContent = "No zone is chosen.";
    note();
    draw();
  }
  function show(place, ownName, category) {
    var zone = zones[place];
    if (!zone) return;
    chosenZone = place;
    tiles.mark(place);
    var name = ownName || zone.name, group = categories[category === undefined ? zone.category : category];
    panel.hidden = false;
    panel.replaceChildren(part("h2", zone.code, name && part("span", " " + name, null, "heading")), facts(zone, group), provision(zone));
    said.textContent = "Zone " + zone.code + (name ? ", " + name : "") + ". " + (zone.nodeId ? "Defined in " + zone.citation + "." : "Text not loaded: no provision is linked yet.");
    note();
    draw();
  }
  function part(tag, text, more, name) {
    var made = document.createElement(tag);
    made.textContent = text;
    if (name) made.className = name;
    if (more) made.append(more);
    return made;
  }
  function facts(zone, group) {
    var list = document.createElement("dl");
    list.append(part("dt", "Category"), part("dd", group && group.name || "No category"), part("dt", "Areas"), part("dd", zone.features.toLocaleString("en-US")), part("dt", "Defined in"));
    var where = document.createElement("dd");
    if (zone.nodeId) {
      var link = part("a", zone.citation);
      link.href = "/law/" + zone.nodeId;
      where.append(link);
    } else {
      where.append(part("span", "text not loaded", null, "gone"), zone.citation ? " " + zone.citation : "", zone.near.length ? " similar: " + zone.near.join(", ") : "");
    }
    list.append(where);
    return list;
  }

  /* The provision of a zone, each got once. Where reading costs credits, only who wants it gets it. */
  var texts = {};
  function provision(zone) {
    var box = document.createElement("div");
    if (!zone.nodeId) return box;
    box.className = "defines";
    if (map.dataset.reads === "free" || texts[zone.nodeId]) { read(zone, box); return box; }
    var button = part("button", "Show its beginning (1 credit)", null, "quiet");
    button.type = "button";
    button.addEventListener("click", function () { read(zone, box); });
    box.append(button);
    return box;
  }
  function read(zone, box) {
    box.textContent = "";
    var id = zone.nodeId;
    texts[id] = texts[id] || fetch("/law/" + id + ".txt").then(function (answer) {
      if (!answer.ok) throw answer;
      return answer.text();
    });
    texts[id].then(function (text) {
      // The first paragraph says what it is, as the lines above do, and the last one where it is from.
      text = text.trim().split("\n\n").slice(1, -1).join("\n\n") || text;
      var short = text.length > 600 ? text.slice(0, text.lastIndexOf(" ", 600)) + " …" : text, link = part("a", "Read the whole provision");
      link.href = "/law/" + id;
      box.replaceChildren(part("blockquote", short.trim()), link);
    }).catch(function () {
      delete texts[id];
      box.replaceChildren(part("p", "Its text cannot be shown here now; the link above leads to it.", null, "remark"));
    });
  }

  /* Pointers: one moves, two zoom, one that stays chooses */
  var down = new Map(), pressed = null;
  function place(event) {
    var box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
  function middle() {
    var all = Array.from(down.values());
    return all.length < 2 ? { x: all[0].x, y: all[0].y, far: 0 } : { x: (all[0].x + all[1].x) / 2, y: (all[0].y + all[1].y) / 2, far: Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) };
  }
  stage.addEventListener("pointerdown", function (event) {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    moving = null;
    pressed = { at: place(event), last: middle(), isDrag: down.size > 1, isTouch: event.pointerType !== "mouse" };
  });
  stage.addEventListener("pointermove", function (event) {
    var at = place(event);
    if (!down.has(event.pointerId)) { pointer = event.pointerType === "mouse" ? at : null; hover(); return; }
    down.set(event.pointerId, at);
    var now = middle(), last = pressed.last;
    if (Math.hypot(at.x - pressed.at.x, at.y - pressed.at.y) > DRAG_MIN) pressed.isDrag = true;
    pressed.last = now;
    if (!pressed.isDrag) return;
    stage.classList.add("dragged");
    var zoom = now.far && last.far ? view.zoom + Math.log2(now.far / last.far) : view.zoom;
    var to = zoomedAt(last.x, last.y, zoom), size = scale(to.zoom);
    set({ x: to.x - (now.x - last.x) / size, y: to.y - (now.y - last.y) / size, zoom: to.zoom });
  });
  function released(event) {
    if (!down.delete(event.pointerId)) return;
    stage.classList.remove("dragged");
    if (event.type === "pointerup" && pressed && !pressed.isDrag && !down.size) choose(under(pressed.at.x, pressed.at.y));
    if (down.size) { pressed.last = middle(); pressed.isDrag = true; }
  }
  stage.addEventListener("pointerup", released);
  stage.addEventListener("pointercancel", released);
  stage.addEventListener("pointerleave", function () { pointer = null; hover(); });
  function hover() {
    var found = pointer && !down.size ? under(pointer.x, pointer.y) : null, feature = found ? found.feature : null;
    var zone = found && zones[found.zone];
    stage.title = zone ? zone.code + (found.name || zone.name ? ": " + (found.name || zone.name) : "") : "";
    stage.classList.toggle("over", Boolean(found));
    if (feature !== hovered) { hovered = feature; draw(); }
  }
  stage.addEventListener("wheel", function (event) {
    event.preventDefault();
    moving = null;
    var at = place(event), lines = event.deltaMode === 1 ? 16 : 1;
    set(zoomedAt(at.x, at.y, view.zoom - Math.max(-1, Math.min(1, event.deltaY * lines / (event.ctrlKey ? 80 : 320)))));
  }, { passive: false });
  stage.addEventListener("dblclick", function (event) { var at = place(event); go(zoomedAt(at.x, at.y, view.zoom + 1)); });

  function wholeMap() { go(fitted(whole.from, whole.to, zoomMax)); }
  function zoomBy(steps) { go({ x: view.x, y: view.y, zoom: Math.round((view.zoom + steps) * 2) / 2 }); }
  var DOING = { "in": function () { zoomBy(1); }, out: function () { zoomBy(-1); }, fit: wholeMap };
  map.querySelectorAll("[data-do]").forEach(function (button) { button.addEventListener("click", DOING[button.dataset.do]); });

  stage.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    var step = 80 / scale(view.zoom), moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (moves) set({ x: view.x + moves[0] * step, y: view.y + moves[1] * step, zoom: view.zoom });
    else if (event.key === "+" || event.key === "=") zoomBy(1);
    else if (event.key === "-" || event.key === "_") zoomBy(-1);
    else if (event.key === "Home" || event.key === "0") wholeMap();
    else if (event.key === "Enter" || event.key === " ") {
      var found = under(width / 2, height / 2);
      if (found) choose(found); else { letGo(); said.textContent = "There is no zone in the middle of the map."; }
    } else if (event.key === "Escape") letGo();
    else return;
    event.preventDefault();
  });
  stage.addEventListener("focus", draw);
  stage.addEventListener("blur", draw);

  /** Text of others, without characters that steer directions or terminals. */
  function plain(text) { return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ""); }

  /* Finding a zone by code or name */
  var box = document.getElementById("find"), form = box.form, list = null, at = -1;
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", "zones-found");
  box.setAttribute("aria-expanded", "false");
  function closeList() {
    if (list) list.remove();
    list = null; at = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }
  function matching(typed) {
    typed = typed.trim().toLowerCase();
    var rank = function (zone) {
      var code = zone.code.toLowerCase();
      return code === typed ? 0 : code.startsWith(typed) ? 1 : code.includes(typed) ? 2 : (zone.name || "").toLowerCase().includes(typed) ? 3 : 9;
    };
    return zones.map(function (zone, place) { return { zone: zone, place: place, rank: rank(zone) }; })
      .filter(function (one) { return one.rank < 9; })
      .sort(function (a, b) { return a.rank - b.rank || a.place - b.place; });
  }
  function openList() {
    closeList();
    var found = matching(box.value).slice(0, 60);
    if (!found.length || document.activeElement !== box) return;
    list = document.createElement("ul");
    list.id = "zones-found";
    list.className = "options";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Zones");
    found.forEach(function (one, number) {
      var item = document.createElement("li");
      item.id = "zone-" + number;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.append(part("b", one.zone.code), part("span", one.zone.name || ""));
      if (one.zone.reason) item.append(part("span", "text not loaded", null, "gone"));
      item.addEventListener("mousedown", function (event) { event.preventDefault(); chooseFound(one.place); });
      item.place = one.place;
      list.append(item);
    });
    box.parentNode.append(list);
    box.setAttribute("aria-expanded", "true");
  }
  function mark(number) {
    if (!list) return;
    var items = list.children;
    if (at >= 0) items[at].setAttribute("aria-selected", "false");
    at = (number + items.length) % items.length;
    items[at].setAttribute("aria-selected", "true");
    items[at].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", items[at].id);
  }
  function chooseFound(place) {
    box.value = zones[place].code;
    closeList();
    reveal(place);
  }
  function reveal(place) {
    var around = corners(zones[place].bbox);
    chosen = null;
    go(fitted(around.from, around.to, Math.min(zoomMax, 16)));
    show(place);
  }
  box.addEventListener("input", openList);
  box.addEventListener("focus", openList);
  box.addEventListener("click", function () { if (!list) openList(); });
  box.addEventListener("blur", closeList);
  box.addEventListener("keydown", function (event) {
    if (event.key === "ArrowDown") { event.preventDefault(); if (list) mark(at + 1); else openList(); }
    else if (event.key === "ArrowUp" && list) { event.preventDefault(); mark(at < 0 ? -1 : at - 1); }
    else if (event.key === "Escape" && list) { event.preventDefault(); closeList(); }
    else if (event.key === "Enter" && list && at >= 0) { event.preventDefault(); chooseFound(list.children[at].place); }
  });
  // Coordinates and names of places are looked up by the server.
  form.addEventListener("submit", function (event) {
    var best = matching(box.value)[0];
    if (!box.value.trim()) event.preventDefault();
    if (!best || best.rank > 1) return;
    event.preventDefault();
    chooseFound(best.place);
  });
  // Codes in the table lead to the map.
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[data-zone]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    var place = Number(link.dataset.zone);
    if (!zones[place]) return;
    event.preventDefault();
    map.scrollIntoView({ block: "nearest" });
    stage.focus({ preventScroll: true });
    reveal(place);
  });

  new ResizeObserver(measure).observe(stage);
  measure();
  fetch(map.dataset.parts + "/zones" + (map.dataset.pass ? "?pass=" + map.dataset.pass : ""), { headers: { Accept: "application/json" } })
    .then(function (answer) { if (answer.ok) return answer.json(); throw answer; })
    .then(function (reply) {
      zones = reply.zones;
      categories = reply.categories;
      zones.concat(categories).forEach(function (one) {
        ["code", "name", "citation"].forEach(function (field) { if (one[field]) one[field] = plain(one[field]); });
        if (one.near) one.near = one.near.map(plain);
      });
      tiles.open();
      var place = map.dataset.chosen === undefined ? -1 : Number(map.dataset.chosen);
      if (zones[place]) { if (shown || placeOfAddress()) show(place); else reveal(place); }
    })
    .catch(function () { tell("The zones of this map could not be loaded. Reload the page; the table below has them too."); });
})();
