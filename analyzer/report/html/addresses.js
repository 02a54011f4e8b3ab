/* SPDX-License-Identifier: MIT */
/*
 * The address map: a device's memory at a moment, in the order of its addresses. Regions (a caching allocator's
 * segments and other driver allocations) follow one another like words of a text, to scale; the room between
 * them is not to scale. What is idle inside a segment is hatched: it is what fragmentation is made of. Painted
 * on a canvas, because a map has thousands of pieces. page.js draws it when its tab is opened.
 */
"use strict";

(function () {
    const ROW = 22,
        BETWEEN = 5,
        ROWS = 20; // pixels of a line of the map, and between two; lines
    const GAP = 2; // pixels between two regions
    const LINES = 14,
        LETTER = 14; // lines of code in the legend; pixels of a piece that has its line's mark
    const VERDICTS = ["lost", "growing", "unfreed", "cache", "runtime", "freed", "unknown"];
    const OTHERS = { runtime: ["runtime", "CUDA libraries"], cache: ["idle", "a cache, not in use yet"] };
    const WHY = { peak: "peak", oom: "out of memory", worst: "most fragmented", end: "end", between: "between" };

    class Addresses {
        constructor(panel, page) {
            this.page = page;
            this.maps = page.maps;
            this.marked = new Set();
            if (!this.maps.length) {
                panel.append(
                    vt.el(
                        "p",
                        { class: "empty" },
                        "No device memory was held at any moment that this report looked at."
                    )
                );
                return;
            }
            this.devices = Array.from(new Set(this.maps.map(map => map.device)));
            this.device = this.devices[0];
            this.by = "line";
            this.region = null; // the one that is zoomed into
            this.makeControls(panel);
            this.makeMap(panel);
            this.chooseDevice();
        }

        /* --- the elements --- */

        makeControls(panel) {
            const tools = vt.el("div", { class: "tools" });
            if (this.devices.length > 1) {
                const choose = device => {
                    this.device = device;
                    this.chooseDevice();
                };
                tools.append(
                    vt.picker(
                        "device",
                        this.devices.map(device => [device, vt.deviceName(device)]),
                        this.device,
                        choose,
                        { class: "map-device" }
                    )
                );
            }
            this.slider = vt.el("input", {
                type: "range",
                min: "0",
                step: "1",
                class: "map-moment",
                "aria-label": "moment",
            });
            this.slider.addEventListener("input", () => this.choose(Number(this.slider.value)));
            this.moments = vt.el("span", { class: "map-moments" });
            this.moment = vt.el("strong", { role: "status" });
            this.back = vt.el(
                "button",
                { type: "button", class: "map-back", onclick: () => this.zoomTo(null) },
                "show all"
            );
            const colour = by => {
                this.by = by;
                this.draw();
            };
            tools.append(
                vt.el("label", null, "moment ", this.slider),
                this.moments,
                vt.picker(
                    "colour by",
                    [
                        ["line", "line"],
                        ["verdict", "verdict"],
                    ],
                    this.by,
                    colour,
                    { class: "map-colour" }
                ),
                this.back
            );
            panel.append(tools, vt.el("p", { class: "map-title" }, this.moment));
        }

        makeMap(panel) {
            this.canvas = vt.el("canvas", { class: "map-canvas", tabindex: "0", role: "img" });
            this.side = vt.el("div", { class: "map-side" });
            this.legend = vt.el("div", { class: "legend column" });
            this.frame = vt.el("div", { class: "map-frame" }, this.canvas);
            panel.append(
                vt.el(
                    "div",
                    { class: "map" },
                    this.frame,
                    vt.el("div", { class: "map-beside" }, this.side, this.legend)
                )
            );
            this.canvas.addEventListener("mousemove", event => this.tip(event));
            this.canvas.addEventListener("mouseleave", () => vt.tooltip(null, []));
            this.canvas.addEventListener("click", event => this.click(event));
            this.canvas.addEventListener("keydown", event => this.key(event));
        }

        chooseDevice() {
            this.list = this.maps.filter(map => map.device === this.device).sort((a, b) => a.at - b.at);
            this.slider.max = String(this.list.length - 1);
            const ooms = this.list.filter(map => map.why === "oom");
            const label = map =>
                WHY[map.why] + (map.why === "oom" && ooms.length > 1 ? " " + (ooms.indexOf(map) + 1) : "");
            const button = (map, index) => {
                const title = vt.duration(map.at);
                const attributes = { type: "button", class: "map-at", title, "data-index": index };
                return vt.el("button", { ...attributes, onclick: () => this.choose(index) }, label(map));
            };
            const buttons = this.list.map((map, index) => (map.why === "between" ? null : button(map, index)));
            this.moments.replaceChildren(...buttons.filter(Boolean));
            const oom = this.list.findIndex(map => map.why === "oom");
            const peak = this.list.findIndex(map => map.why === "peak");
            this.choose(oom >= 0 ? oom : Math.max(peak, 0));
        }

        choose(index) {
            this.map = this.list[index];
            this.slider.value = String(index);
            this.region = null;
            this.at = null;
            this.order = this.linesOf(this.map);
            const map = this.map;
            const oom = map.why === "oom" && this.page.ooms.find(one => one.at === map.at);
            this.moment.textContent =
                `${vt.deviceName(this.device)} at ${vt.duration(map.at)}: ${WHY[map.why] || map.why}` +
                (oom && oom.requested ? ` (${vt.bytes(oom.requested)} was asked for)` : "");
            this.slider.setAttribute("aria-valuetext", this.moment.textContent);
            for (const button of this.moments.children)
                button.setAttribute("aria-pressed", button.dataset.index === String(index));
            this.showSide();
            this.draw();
        }

        // Bytes in use of each line of code, the most first.
        linesOf(map) {
            const sums = new Map();
            for (const region of map.regions) {
                for (const piece of region.pieces) {
                    const bytes = piece.bytes - piece.idle;
                    if (!piece.blocks || bytes <= 0) continue;
                    const line = this.lineOf(piece.site);
                    const sum = sums.get(line) || { line, bytes: 0, blocks: 0, site: piece.site };
                    sum.bytes += bytes;
                    sum.blocks += piece.blocks;
                    sums.set(line, sum);
                }
            }
            return Array.from(sums.values()).sort((a, b) => b.bytes - a.bytes);
        }

        showSide() {
            const { reserved, in_use: used, largest_free: largest } = this.map;
            const free = reserved - used;
            const own = this.map.regions
                .filter(region => !region.segment)
                .reduce((sum, region) => sum + region.bytes, 0);
            const rows = [];
            if (reserved) {
                rows.push(
                    ["reserved by caches", vt.bytes(reserved)],
                    ["in use of that", vt.bytes(used)],
                    ["idle", vt.bytes(free)],
                    ["largest idle piece", vt.bytes(largest)]
                );
            }
            rows.push([
                this.map.regions_left_out ? "other allocations, drawn" : "other allocations",
                vt.bytes(own),
            ]);
            const ratio = free > 0 ? 1 - largest / free : 0;
            const text = !reserved
                ? "no caching allocator holds memory here"
                : free > 0
                  ? "of what is idle is not in its largest piece"
                  : "nothing reserved was idle";
            const meter = vt.el("div", { class: "meter" }, vt.el("i"));
            meter.firstChild.style.width = 100 * ratio + "%";
            this.side.replaceChildren(
                vt.el("h4", null, "fragmentation"),
                vt.el(
                    "p",
                    null,
                    vt.el("strong", { class: "map-ratio" }, reserved ? ratio.toFixed(2) : "none"),
                    " ",
                    vt.el("span", { class: "dim" }, text)
                ),
                meter,
                vt.el(
                    "dl",
                    null,
                    rows.flatMap(([name, value]) => [
                        vt.el("dt", null, name),
                        vt.el("dd", { class: "number" }, value),
                    ])
                )
            );
            if (this.map.regions_left_out)
                this.side.append(
                    vt.el(
                        "p",
                        { class: "dim" },
                        `${vt.count(this.map.regions_left_out)} smaller regions are not drawn`
                    )
                );
        }

        showLegend() {
            const item = (colour, text, site, kind, mark) => {
                const key = vt.el("i", { class: kind ? "key " + kind : "key" });
                key.style.setProperty("--key", `var(--${colour})`);
                return vt.el(
                    "span",
                    { title: text },
                    key,
                    mark ? vt.el("b", { class: "mark" }, mark) : null,
                    site === undefined ? vt.el("span", null, text) : vt.link(text, { site })
                );
            };
            const items = [];
            if (this.by === "line") {
                const named = this.order.filter(({ line }) => this.colourName(line) !== "rest").slice(0, LINES);
                for (const { line, bytes, site } of named) {
                    const name = OTHERS[line] ? OTHERS[line][1] : vt.shortName(this.page.lines[line].name);
                    const text = `${vt.bytes(bytes)}  ${name}`;
                    const known = this.page.lines[line];
                    items.push(item(this.colourName(line), text, site, null, known && known.mark));
                }
                const rest = this.order.filter(one => !named.includes(one));
                const bytes = rest.reduce((sum, one) => sum + one.bytes, 0);
                if (rest.length)
                    items.push(item("rest", `${vt.bytes(bytes)}  ${vt.plural(rest.length, "more line")}`));
            } else {
                const sums = this.verdictBytes();
                for (const verdict of VERDICTS)
                    if (sums.get(verdict))
                        items.push(item("v-" + verdict, `${vt.bytes(sums.get(verdict))}  ${verdict}`));
            }
            const { reserved, in_use: used } = this.map;
            if (reserved > used)
                items.push(item("idle", `${vt.bytes(reserved - used)}  idle in a segment`, undefined, "hatched"));
            if (reserved)
                items.push(item("ink", "the line above: a segment of a caching allocator", undefined, "above"));
            this.legend.replaceChildren(...items);
        }

        verdictBytes() {
            const sums = new Map();
            for (const region of this.map.regions) {
                for (const piece of region.pieces) {
                    if (!piece.blocks) continue;
                    const site = this.page.sites[piece.site],
                        verdict = site ? site.verdict : "unknown";
                    sums.set(verdict, (sums.get(verdict) || 0) + piece.bytes - piece.idle);
                }
            }
            return sums;
        }

        // What a piece is coloured by: its line of code, or that it is a library's or a cache's. null: unknown.
        lineOf(site) {
            const known = this.page.sites[site];
            if (!known) return null;
            return known.class === "runtime" ? "runtime" : known.segments ? "cache" : known.line;
        }

        /* --- drawing --- */

        // Bytes to pixels, as one long line of text, then cut into lines of the map.
        layout() {
            const width = Math.max(100, this.frame.clientWidth);
            const regions = this.region ? [this.region] : this.map.regions;
            const bytes = regions.reduce((sum, region) => sum + region.bytes, 0) || 1;
            // Between two regions is some room, except where they are only a few pixels.
            let scale = (width * ROWS) / bytes;
            const gapOf = region => Math.min(GAP, (region.bytes * scale) / 8);
            scale *= 1 - regions.reduce((sum, region) => sum + gapOf(region), 0) / (width * ROWS);
            let at = 0;
            this.placed = regions.map(region => {
                const place = { region, from: at, to: at + region.bytes * scale };
                at = place.to + gapOf(region);
                return place;
            });
            this.width = width;
            this.scale = scale;
            return ROWS * (ROW + BETWEEN);
        }

        // One call for each line of the map that the stretch touches.
        stretch(from, to, paint) {
            for (let row = Math.floor(from / this.width); row * this.width < to && row <= ROWS; row++) {
                const x = Math.max(from - row * this.width, 0);
                const wide = Math.min(to - row * this.width, this.width) - x;
                if (wide > 0) paint(x, row * (ROW + BETWEEN) + 3, wide);
            }
        }

        draw() {
            if (!this.map) return;
            const height = this.layout();
            const ink = vt.canvas(this.canvas, this.width, height + 4);
            this.colours = this.palette();
            this.written = null;
            const idle = this.hatch(ink);
            const ground = vt.colour("idle"),
                line = vt.colour("ink");
            for (const { region, from, to } of this.placed) {
                if (region.segment) {
                    ink.fillStyle = line;
                    this.stretch(from, to, (x, y, wide) => ink.fillRect(x, y - 3, wide, 2));
                }
                for (const piece of region.pieces) this.piece(ink, piece, from, idle, ground);
            }
            this.back.hidden = !this.region;
            this.canvas.setAttribute(
                "aria-label",
                `${this.moment.textContent}; ${vt.count(this.map.regions.length)} regions`
            );
            this.canvas.dataset.pieces = String(
                this.placed.reduce((sum, place) => sum + place.region.pieces.length, 0)
            );
            this.showLegend();
            if (this.at) this.outline(ink);
        }

        piece(ink, piece, base, idle, ground) {
            const from = base + piece.offset * this.scale,
                to = from + piece.bytes * this.scale;
            const used = piece.blocks ? piece.bytes - piece.idle : 0;
            // A hair between neighbours, where there is room for it.
            const edge = to - from > 4 ? 0.7 : 0;
            if (used < piece.bytes) {
                ink.fillStyle = ground;
                this.stretch(from, to, (x, y, wide) => ink.fillRect(x, y, wide, ROW));
                if (to - from > 3) {
                    ink.fillStyle = idle;
                    this.stretch(from, to, (x, y, wide) => ink.fillRect(x, y, wide, ROW));
                }
            }
            if (!used) return;
            const high = Math.max(2, (ROW * used) / piece.bytes);
            ink.globalAlpha = this.marked.size && !this.marked.has(piece.site) ? 0.25 : 1;
            ink.fillStyle = this.colourOf(piece.site);
            this.stretch(from, to, (x, y, wide) => {
                ink.fillRect(x, y + ROW - high, Math.max(wide - edge, 0.3), high);
                if (wide >= LETTER && high >= LETTER) this.mark(ink, piece.site, x + wide / 2, y);
            });
            ink.globalAlpha = 1;
        }

        // A line's mark, once in each row where pieces of the line follow one another.
        mark(ink, site, x, y) {
            const line = this.by === "line" && this.page.lines[this.lineOf(site)];
            const written = line && line.mark + " in " + y;
            if (!line || this.written === written) return;
            this.written = written;
            ink.font = "11px sans-serif";
            ink.textAlign = "center";
            ink.lineWidth = 2;
            ink.strokeStyle = vt.colour("back");
            ink.strokeText(line.mark, x, y + ROW - 7);
            const colour = ink.fillStyle;
            ink.fillStyle = vt.colour("ink");
            ink.fillText(line.mark, x, y + ROW - 7);
            ink.fillStyle = colour;
        }

        hatch(ink) {
            const tile = document.createElement("canvas");
            tile.width = tile.height = 6;
            const pen = tile.getContext("2d");
            pen.strokeStyle = vt.colour("hatch");
            pen.beginPath();
            pen.moveTo(-1, 7);
            pen.lineTo(7, -1);
            pen.moveTo(-1, 1);
            pen.lineTo(1, -1);
            pen.moveTo(5, 7);
            pen.lineTo(7, 5);
            pen.stroke();
            return ink.createPattern(tile, "repeat");
        }

        palette() {
            const found = new Map([["unknown", vt.colour("unowned")]]);
            if (this.by === "line")
                this.order.forEach(({ line }) => found.set(line, vt.colour(this.colourName(line))));
            else VERDICTS.forEach(verdict => found.set(verdict, vt.colour("v-" + verdict)));
            return found;
        }

        // The colour of what lineOf() gives.
        colourName(line) {
            if (line === null) return "rest";
            return OTHERS[line] ? OTHERS[line][0] : this.page.lines[line].colour;
        }

        colourOf(site) {
            const known = this.page.sites[site];
            if (!known) return this.colours.get("unknown");
            const key = this.by === "line" ? this.lineOf(site) : known.verdict;
            return this.colours.get(key) || this.colours.get("unknown");
        }

        outline(ink) {
            const { place, piece } = this.at;
            const from = place.from + piece.offset * this.scale;
            ink.strokeStyle = vt.colour("ink");
            ink.lineWidth = 2;
            this.stretch(from, from + Math.max(piece.bytes * this.scale, 3), (x, y, wide) =>
                ink.strokeRect(x, y, wide, ROW)
            );
        }

        /* --- going through it --- */

        pieceAt(event) {
            const box = this.canvas.getBoundingClientRect();
            const row = Math.floor((event.clientY - box.top) / (ROW + BETWEEN));
            const x = row * this.width + event.clientX - box.left;
            const place = last(this.placed, found => found.from <= x);
            if (!place || x >= Math.max(place.to, place.from + 1)) return null;
            const piece = last(place.region.pieces, found => place.from + found.offset * this.scale <= x);
            return piece ? { place, piece } : null;
        }

        wordsFor({ place, piece }) {
            const { region } = place;
            const site = piece.blocks ? this.page.sites[piece.site] : null;
            const pairs = [["bytes", vt.bytes(piece.bytes)]];
            if (piece.blocks > 1) pairs.push(["blocks", vt.count(piece.blocks)]);
            if (piece.blocks && piece.idle) pairs.push(["idle among them", vt.bytes(piece.idle)]);
            if (site) pairs.push(["verdict", site.verdict]);
            pairs.push([region.segment ? "in a segment of" : "driver allocation of", vt.bytes(region.bytes)]);
            pairs.push(["address", region.address + (piece.offset ? " + " + vt.bytes(piece.offset) : "")]);
            return [piece.blocks ? (site ? site.name : "a line that is not known") : "idle", pairs];
        }

        tip(event) {
            const found = this.pieceAt(event);
            if (found) vt.tipOf(event, ...this.wordsFor(found), this.rowOf(event.clientY));
            else vt.tooltip(event, []);
        }

        click(event) {
            const found = this.pieceAt(event);
            if (!found) return;
            if (event.detail > 1) return void this.zoomTo(found.place.region);
            this.at = found;
            this.draw();
            this.canvas.focus();
            if (!found.piece.blocks || !this.page.sites[found.piece.site]) return;
            this.choosing = true;
            vt.select({ site: found.piece.site, owner: null });
            this.choosing = false;
        }

        zoomTo(region) {
            this.region = region;
            this.at = null;
            this.draw();
        }

        step(by) {
            const all = this.placed.flatMap(place => place.region.pieces.map(piece => ({ place, piece })));
            const now = this.at ? all.findIndex(found => found.piece === this.at.piece) : -1;
            this.at = all[Math.min(Math.max(now + by, 0), all.length - 1)] || null;
            this.draw();
            if (!this.at) return;
            const [name, pairs] = this.wordsFor(this.at);
            this.canvas.setAttribute("aria-label", [name, ...pairs.map(pair => pair.join(" "))].join(", "));
            const box = this.canvas.getBoundingClientRect();
            const x = this.at.place.from + this.at.piece.offset * this.scale;
            const at = { clientX: box.left + (x % this.width), clientY: box.top + Math.floor(x / this.width) * (ROW + BETWEEN) };
            vt.tipOf(at, name, pairs, this.rowOf(at.clientY));
        }

        // The row of the map that is at this height of the window.
        rowOf(y) {
            const box = this.canvas.getBoundingClientRect(),
                each = ROW + BETWEEN;
            const top = box.top + Math.floor((y - box.top) / each) * each;
            return { left: box.left, right: box.right, top, bottom: top + each };
        }

        key(event) {
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            const keys = {
                ArrowRight: () => this.step(1),
                ArrowLeft: () => this.step(-1),
                ArrowDown: () => this.step(20),
                ArrowUp: () => this.step(-20),
                Enter: () => this.at && this.zoomTo(this.at.place.region),
                Escape: () => (vt.tooltip(null, []), this.zoomTo(null)),
            };
            if (!keys[event.key]) return;
            keys[event.key]();
            event.preventDefault();
            event.stopPropagation();
        }

        // Another picture chose sites, or a moment: then the map nearest to it.
        select(selection, changed) {
            if (this.choosing || !this.map) return;
            this.marked = vt.markedSites(this.page, selection);
            if (changed.includes("time") && selection.time !== null) {
                const away = map => Math.abs(map.at - selection.time);
                this.choose(
                    this.list.reduce((best, map, index) => (away(map) < away(this.list[best]) ? index : best), 0)
                );
            } else this.draw();
        }

        resize() {
            this.draw();
        }
    }

    // The last of a sorted list for which it holds.
    function last(list, holds) {
        let low = 0,
            high = list.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (holds(list[middle])) low = middle + 1;
            else high = middle;
        }
        return low ? list[low - 1] : null;
    }

    vt.part({
        id: "addresses",
        title: "Addresses",
        order: 13,
        tab: true,
        wanted: page => page.sites.length > 0,
        draw: (panel, page) => new Addresses(panel, page),
    });
})();
