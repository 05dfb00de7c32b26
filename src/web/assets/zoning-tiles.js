// Tiles of a zoning map: got from the server, drawn once each into a bitmap, searched by position. Drawing is cut into
// small steps, so that a map that is being moved never waits for it.
(function () {
  "use strict";
  var SIDE = 512, CELLS = 16, STEP = 250, BITMAP_BYTES = 128 << 20, LABEL_MIN = 44;
  // Of the server: src/web/zoning/legend.rs.
  var PATTERNS = 4;
  // Where the code of a zone is tried, as shares of the width and height of its part of the tile.
  var PLACES = [[.5, .5], [.5, .3], [.5, .7], [.3, .5], [.7, .5], [.25, .25], [.75, .75], [.75, .25], [.25, .75]];

  /** The coordinates of a tile from its steps, with a box around each feature and the features of each cell. */
  function opened(tile, reply) {
    var count = reply.features.length, cell = tile.grid / CELLS;
    tile.features = reply.features; tile.zones = reply.zones; tile.categories = reply.categories; tile.names = reply.names;
    tile.boxes = new Int32Array(count * 4);
    tile.cells = [];
    for (var c = 0; c < CELLS * CELLS; c++) tile.cells.push([]);
    tile.rings = reply.rings.map(function (rings, at) {
      var west = 1 << 30, north = 1 << 30, east = -(1 << 30), south = -(1 << 30);
      var made = rings.map(function (steps) {
        var ring = new Int32Array(steps.length), x = 0, y = 0;
        for (var i = 0; i < steps.length; i += 2) {
          ring[i] = x += steps[i]; ring[i + 1] = y += steps[i + 1];
          if (x < west) west = x;
          if (x > east) east = x;
          if (y < north) north = y;
          if (y > south) south = y;
        }
        return ring;
      });
      tile.boxes.set([west, north, east, south], at * 4);
      var place = function (units) { return Math.max(0, Math.min(CELLS - 1, Math.floor(units / cell))); };
      for (var row = place(north); row <= place(south); row++) {
        for (var column = place(west); column <= place(east); column++) tile.cells[row * CELLS + column].push(at);
      }
      return made;
    });
    tile.order = Array.from({ length: count }, function (_, at) { return at; })
      .sort(function (a, b) { return tile.categories[a] - tile.categories[b] || a - b; });
  }

  /** Whether a point is in a shape: it winds around it. */
  function winds(rings, x, y) {
    var turns = 0;
    for (var r = 0; r < rings.length; r++) {
      var ring = rings[r], last = ring.length - 2, ax = ring[last], ay = ring[last + 1];
      for (var i = 0; i < ring.length; i += 2) {
        var bx = ring[i], by = ring[i + 1];
        var side = (bx - ax) * (y - ay) - (x - ax) * (by - ay);
        if (ay <= y) { if (by > y && side > 0) turns++; } else if (by <= y && side < 0) turns--;
        ax = bx; ay = by;
      }
    }
    return turns !== 0;
  }

  function trace(context, rings, scale) {
    for (var r = 0; r < rings.length; r++) {
      var ring = rings[r];
      context.moveTo(ring[0] * scale, ring[1] * scale);
      for (var i = 2; i < ring.length; i += 2) context.lineTo(ring[i] * scale, ring[i + 1] * scale);
      context.closePath();
    }
  }

  /** A pattern that repeats, drawn at the size of the screen's pixels. */
  function pattern(context, ratio, ink, draw) {
    var side = Math.round(8 * ratio), small = document.createElement("canvas");
    small.width = small.height = side;
    var pen = small.getContext("2d");
    pen.scale(side / 8, side / 8);
    pen.strokeStyle = pen.fillStyle = ink;
    draw(pen);
    return context.createPattern(small, "repeat");
  }

  var PATTERN_DRAWINGS = [
    null,
    function (pen) { pen.fillRect(0, 3.5, 8, 1); },
    function (pen) { pen.fillRect(3.5, 0, 1, 8); },
    function (pen) { pen.fillRect(1, 1, 1.6, 1.6); pen.fillRect(5, 5, 1.6, 1.6); }
  ];
  function hatch(pen) {
    pen.lineWidth = 1.3;
    pen.beginPath();
    [-8, 0, 8].forEach(function (x) { pen.moveTo(x - 1, 9); pen.lineTo(x + 9, -1); });
    pen.stroke();
  }

  /**
   * All tiles of a layer. `options`: parts, pass, grid; isHatched(zone), label(tile, at); changed() when something can be
   * drawn, failed(message, wait) when a part cannot be had.
   */
  window.hornbookTiles = function (options) {
    var tiles = new Map(), queue = [], colours = null, ratio = 1, marked = null, isOpen = false, loading = 0, wanted = [];

    function bitmapBytes() { return SIDE * SIDE * 4 * ratio * ratio; }

    function load(tile) {
      loading++;
      fetch(options.parts + "/" + tile.key + (options.pass ? "?pass=" + options.pass : ""), { headers: { Accept: "application/json" } })
        .then(function (answer) {
          if (answer.ok) return answer.json();
          throw { status: answer.status, wait: Number(answer.headers.get("Retry-After")) || 5 };
        })
        .then(function (reply) { opened(tile, reply); tile.state = "open"; draw(tile); })
        .catch(function (error) {
          tile.state = "failed";
          options.failed(error.status, error.wait || 5);
          if (error.status !== 404 && error.status !== 403) setTimeout(function () { tiles.delete(tile.key); options.changed(); }, (error.wait || 5) * 1000);
        })
        .then(function () { loading--; next(); });
    }

    // What is looked at now comes before what was looked at earlier.
    function next() {
      while (loading < 6 && wanted.length) {
        var tile = wanted.pop();
        if (tile.state === "wanted") { tile.state = "loading"; load(tile); }
      }
    }

    function get(z, x, y, isWanted) {
      var key = z + "/" + x + "/" + y, tile = tiles.get(key);
      if (!tile && isWanted) {
        tile = { key: key, z: z, x: x, y: y, grid: options.grid, state: "wanted", bitmap: null, mark: null };
        tiles.set(key, tile);
        wanted.unshift(tile);
        next();
      }
      if (tile) { tiles.delete(key); tiles.set(key, tile); }
      return tile;
    }

    // The oldest bitmaps go first; what is on the screen was just asked for.
    function forget() {
      var room = Math.max(24, Math.floor(BITMAP_BYTES / bitmapBytes()));
      if (tiles.size <= room) return;
      var surplus = tiles.size - room;
      tiles.forEach(function (tile, key) {
        if (surplus-- > 0 && tile.state !== "loading") { tile.state = "gone"; tiles.delete(key); }
      });
    }

    function canvas() {
      var made = document.createElement("canvas");
      made.width = made.height = Math.round(SIDE * ratio);
      return made;
    }

    /** Plans the drawing of a tile: its picture, and the outline of the zone that is chosen. */
    function draw(tile) {
      if (!isOpen || !colours || tile.state !== "open") return;
      tile.drawn = colours;
      queue.push(picture(tile));
      if (marked !== null) queue.push(outlineOf(tile));
      options.changed();
    }

    function picture(tile) {
      var bitmap = canvas(), context = bitmap.getContext("2d"), scale = bitmap.width / tile.grid, look = colours, at = 0;
      var patterns = PATTERN_DRAWINGS.map(function (drawing) { return drawing && pattern(context, ratio, look.pattern, drawing); });
      var pending = pattern(context, ratio, look.hatch, hatch);
      context.lineWidth = Math.max(0.5, 0.6 * ratio);
      context.strokeStyle = look.line;
      context.lineJoin = "round";
      return function () {
        if (tile.drawn !== look) return true;
        if (at >= tile.order.length) {
          labels(tile, context, scale, look);
          tile.bitmap = bitmap;
          return true;
        }
        // Features of one category, at most so many at a time.
        var category = tile.categories[tile.order[at]], end = at, hatched = [];
        context.beginPath();
        while (end < tile.order.length && end - at < STEP && tile.categories[tile.order[end]] === category) {
          var feature = tile.order[end++];
          trace(context, tile.rings[feature], scale);
          if (options.isHatched(tile.zones[feature])) hatched.push(feature);
        }
        at = end;
        var round = Math.floor(category / look.zones.length);
        context.fillStyle = look.zones[category % look.zones.length];
        context.fill();
        var drawing = patterns[(category + round) % PATTERNS];
        if (drawing) { context.fillStyle = drawing; context.fill(); }
        // From afar the edges would be all that is seen.
        context.globalAlpha = tile.z < 12 ? 0.4 : tile.z < 14 ? 0.7 : 1;
        context.stroke();
        context.globalAlpha = 1;
        if (hatched.length) {
          context.beginPath();
          hatched.forEach(function (feature) { trace(context, tile.rings[feature], scale); });
          context.fillStyle = pending;
          context.fill();
        }
        return false;
      };
    }

    /** Codes of the features that have room for theirs. */
    function labels(tile, context, scale, look) {
      context.font = "600 " + Math.round(11 * ratio) + "px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineWidth = 3 * ratio;
      context.strokeStyle = look.halo;
      context.fillStyle = look.ink;
      for (var at = 0; at < tile.features.length; at++) {
        var west = Math.max(0, tile.boxes[at * 4]), north = Math.max(0, tile.boxes[at * 4 + 1]);
        var east = Math.min(tile.grid, tile.boxes[at * 4 + 2]), south = Math.min(tile.grid, tile.boxes[at * 4 + 3]);
        if ((east - west) * scale < LABEL_MIN * ratio || (south - north) * scale < 20 * ratio) continue;
        var text = options.label(tile, at), rings = tile.rings[at];
        var half = (context.measureText(text).width / 2 + 3 * ratio) / scale, high = 8 * ratio / scale;
        var place = PLACES.map(function (share) { return [west + (east - west) * share[0], north + (south - north) * share[1]]; })
          .find(function (middle) {
            if (middle[0] - half < west || middle[0] + half > east || middle[1] - high < 0 || middle[1] + high > tile.grid) return false;
            return [[0, 0], [-half, -high], [half, -high], [-half, high], [half, high]].every(function (corner) {
              return winds(rings, middle[0] + corner[0], middle[1] + corner[1]);
            });
          });
        if (!place) continue;
        context.strokeText(text, place[0] * scale, place[1] * scale);
        context.fillText(text, place[0] * scale, place[1] * scale);
      }
    }

    function outlineOf(tile) {
      var zone = marked, look = colours, at = 0, bitmap = canvas(), context = bitmap.getContext("2d"), scale = bitmap.width / tile.grid;
      context.lineJoin = "round";
      return function () {
        if (zone !== marked || tile.drawn !== look) return true;
        var found = 0;
        context.beginPath();
        while (at < tile.features.length && found < STEP) {
          if (tile.zones[at] === zone) { trace(context, tile.rings[at], scale); found++; }
          at++;
        }
        if (found) {
          context.strokeStyle = look.halo; context.lineWidth = 4 * ratio; context.stroke();
          context.strokeStyle = look.chosen; context.lineWidth = 2 * ratio; context.stroke();
          tile.hasMark = true;
        }
        if (at < tile.features.length) return false;
        tile.mark = tile.hasMark ? bitmap : null;
        return true;
      };
    }

    return {
      side: SIDE,
      get: get,
      forget: forget,
      /** Draws for some milliseconds; whether there is more to do. */
      work: function (milliseconds) {
        var until = performance.now() + milliseconds, isNew = false;
        while (queue.length && performance.now() < until) {
          if (queue[0]()) { queue.shift(); isNew = true; }
        }
        return { isNew: isNew, isDone: !queue.length };
      },
      isQuiet: function () { return !queue.length && !loading && !wanted.length; },
      /** Zones are known: tiles can be drawn. */
      open: function () { isOpen = true; this.redraw(); },
      look: function (look, pixels) { colours = look; ratio = pixels; this.redraw(); },
      redraw: function () {
        queue = [];
        tiles.forEach(function (tile) { tile.mark = null; tile.hasMark = false; draw(tile); });
      },
      /** Outlines all areas of a zone; none for null. */
      mark: function (zone) {
        if (zone === marked) return;
        marked = zone;
        tiles.forEach(function (tile) {
          tile.mark = null; tile.hasMark = false;
          if (zone !== null && tile.state === "open" && isOpen && colours) queue.push(outlineOf(tile));
        });
        options.changed();
      },
      /** The feature at a place of a tile, the smallest where several lie; -1 for none. */
      at: function (tile, x, y) {
        if (!tile || tile.state !== "open") return -1;
        var cell = tile.grid / CELLS, found = -1, smallest = Infinity;
        var near = tile.cells[Math.min(CELLS - 1, Math.floor(y / cell)) * CELLS + Math.min(CELLS - 1, Math.floor(x / cell))] || [];
        near.forEach(function (at) {
          var b = at * 4, boxes = tile.boxes;
          if (x < boxes[b] || y < boxes[b + 1] || x > boxes[b + 2] || y > boxes[b + 3] || !winds(tile.rings[at], x, y)) return;
          var size = (boxes[b + 2] - boxes[b]) * (boxes[b + 3] - boxes[b + 1]);
          if (size <= smallest) { smallest = size; found = at; }
        });
        return found;
      },
      /** Adds the part of a feature that lies in a tile to a path. */
      trace: function (context, tile, feature, scale) {
        var at = tile.state === "open" ? tile.features.indexOf(feature) : -1;
        if (at >= 0) trace(context, tile.rings[at], scale);
        return at >= 0;
      }
    };
  };
})();
