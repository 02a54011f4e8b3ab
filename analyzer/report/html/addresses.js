/* SPDX-License-Identifier: MIT */
/*
 * The address map: a device's memory at one moment, in address order. Regions (a caching allocator's segments and
 * other driver allocations) follow one another like words in a text, to scale; the gaps between them are not to
 * scale. Idle memory inside a segment is hatched: this is fragmentation. Painted on a canvas, because a map has
 * thousands of pieces. page.js draws it when its tab is opened.
 */
"use strict";

(function () {
    const ROW = 22,
        BETWEEN = 5,
        ROWS = 20; // pixels of a line of the map, and between two; lines
    const GAP = 2; // pixels between two regions
    const LINES = 14,
        // lines of code in the legend; pixels of a piece from which it shows its line's mark
        LETTER = 14;
    const OTHERS = { runtime: ["runtime", "CUDA libraries"], cache: ["idle", "a cache, not in use yet"] };
    const WHY = { peak: "peak", oom: "out of memory", worst: "most fragmented", end: "end", between: "between" };

    // "/home/me/train.py:41 in step" without its folders.
    const shortName = name => name.replace(/^[^ ]*\/(?=[^ /]+)/, "");

    class Addresses extends vt.Areas {
        constructor(panel, page) {
            super(page);
            this.maps = page.maps;
            if (!this.maps.length) {
                const text = "No device memory was held at any moment that this report looked at.";
                panel.append(vt.el("p", { class: "empty" }, text));
                return;
            }
            this.devices = [...new Set(this.maps.map(map => map.device))];
            this.device = this.devices[0];
            this.by = "line";
            this.region = null; // the zoomed region
            this.makeControls(panel);
            this.makeMap(panel);
            this.chooseDevice();
        }

        /* --- the elements --- */

        makeControls(panel) {
            const tools = vt.el("div", { class: "tools" });
            const chooseDevice = device => {
                this.device = device;
                this.chooseDevice();
            };
            const colourBy = by => {
                this.by = by;
                this.draw();
            };
            if (this.devices.length > 1) {
                const rows = this.devices.map(device => [device, vt.deviceName(device)]);
                tools.append(vt.picker("device", rows, this.device, chooseDevice, { class: "map-device" }));
            }
            const range = { type: "range", min: "0", step: "1", class: "map-moment", "aria-label": "moment" };
            this.slider = vt.el("input", { ...range, oninput: () => this.choose(Number(this.slider.value)) });
            this.moments = vt.el("span", { class: "map-moments" });
            this.moment = vt.el("strong", { role: "status" });
            this.back = vt.button("show all", () => this.zoomTo(null), { class: "map-back" });
            const colours = ["line", "verdict"].map(by => [by, by]);
            tools.append(
                vt.el("label", null, "moment ", this.slider),
                this.moments,
                vt.picker("colour by", colours, this.by, colourBy, { class: "map-colour" }),
                this.back
            );
            panel.append(tools, vt.el("p", { class: "map-title" }, this.moment));
        }

        makeMap(panel) {
            this.canvas = vt.el("canvas", { class: "map-canvas", tabindex: "0", role: "img" });
            this.side = vt.el("div", { class: "map-side" });
            this.legend = vt.el("div", { class: "legend column" });
            this.frame = vt.el("div", { class: "map-frame" }, this.canvas);
            const beside = vt.el("div", { class: "map-beside" }, this.side, this.legend);
            panel.append(vt.el("div", { class: "map" }, this.frame, beside));
            this.listen(this.canvas);
        }

        chooseDevice() {
            this.list = this.maps.filter(map => map.device === this.device).sort((a, b) => a.at - b.at);
            this.slider.max = String(this.list.length - 1);
            const ooms = this.list.filter(map => map.why === "oom");
            const label = map =>
                WHY[map.why] + (map.why === "oom" && ooms.length > 1 ? " " + (ooms.indexOf(map) + 1) : "");
            const button = (map, index) => {
                const attributes = { class: "map-at", title: vt.duration(map.at), "data-index": index };
                return vt.button(label(map), () => this.choose(index), attributes);
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
            this.found = null;
            this.order = this.sumsBy(site => this.lineOf(site));
            const map = this.map;
            const oom = map.why === "oom" && this.page.ooms.find(one => one.at_ns === map.at);
            this.moment.textContent =
                `${vt.deviceName(this.device)} at ${vt.duration(map.at)}: ${WHY[map.why] || map.why}` +
                (oom && oom.requested_bytes ? ` (${vt.bytes(oom.requested_bytes)} was asked for)` : "");
            this.slider.setAttribute("aria-valuetext", this.moment.textContent);
            for (const button of this.moments.children)
                button.setAttribute("aria-pressed", button.dataset.index === String(index));
            this.showSide();
            this.draw();
        }

        // Bytes in use by line of code, or by verdict, the largest first: [{key, bytes, site}].
        sumsBy(keyOf) {
            const sums = new Map();
            for (const piece of this.map.regions.flatMap(region => region.pieces)) {
                const bytes = piece.bytes - piece.idle;
                if (!piece.blocks || bytes <= 0) continue;
                const key = keyOf(piece.site);
                const sum = sums.get(key) || { key, bytes: 0, site: piece.site };
                sum.bytes += bytes;
                sums.set(key, sum);
            }
            return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
        }

        showSide() {
            const { reserved, in_use: used, largest_free: largest } = this.map;
            const free = reserved - used;
            const own = d3.sum(this.map.regions, region => (region.segment ? 0 : region.bytes));
            const missing = this.map.regions_left_out;
            const rows = [[missing ? "other allocations, drawn" : "other allocations", vt.bytes(own)]];
            if (reserved) {
                rows.unshift(
                    ["reserved by caches", vt.bytes(reserved)],
                    ["in use of that", vt.bytes(used)],
                    ["idle", vt.bytes(free)],
                    ["largest idle piece", vt.bytes(largest)]
                );
            }
            const ratio = free > 0 ? 1 - largest / free : 0;
            const text = !reserved
                ? "no caching allocator holds memory here"
                : free > 0
                  ? "of the idle memory is outside its largest piece"
                  : "nothing reserved was idle";
            const number = vt.el("strong", { class: "map-ratio" }, reserved ? ratio.toFixed(2) : "none");
            this.side.replaceChildren(
                vt.el("h4", null, "fragmentation"),
                vt.el("p", null, number, " ", vt.el("span", { class: "dim" }, text)),
                vt.el("div", { class: "meter" }, vt.el("i", { style: `width: ${100 * ratio}%;` })),
                vt.el("dl", null, vt.terms(rows, { class: "number" }))
            );
            if (missing) this.side.append(vt.aside(`${vt.count(missing)} smaller regions are not drawn`));
        }

        showLegend() {
            const item = (colour, text, { site, kind, mark } = {}) => {
                const key = { class: kind ? "key " + kind : "key", style: `--key: var(--${colour});` };
                const name = site === undefined ? vt.el("span", null, text) : vt.link(text, () => vt.select({ site }));
                return vt.el("span", { title: text }, vt.el("i", key), mark && vt.el("b", { class: "mark" }, mark), name);
            };
            const items = this.by === "line" ? this.legendOfLines(item) : this.legendOfVerdicts(item);
            const { reserved, in_use: used } = this.map;
            if (reserved > used)
                items.push(item("idle", `${vt.bytes(reserved - used)}  idle in a segment`, { kind: "hatched" }));
            if (reserved)
                items.push(item("ink", "the line above: a segment of a caching allocator", { kind: "above" }));
            this.legend.replaceChildren(...items);
        }

        legendOfLines(item) {
            const named = this.order.filter(({ key }) => this.colourName(key) !== "rest").slice(0, LINES);
            const items = named.map(({ key, bytes, site }) => {
                const line = this.page.lines[key];
                const name = line ? shortName(line.name) : OTHERS[key][1];
                return item(this.colourName(key), `${vt.bytes(bytes)}  ${name}`, { site, mark: line && line.mark });
            });
            const rest = this.order.filter(one => !named.includes(one));
            const bytes = d3.sum(rest, one => one.bytes);
            if (rest.length) items.push(item("rest", `${vt.bytes(bytes)}  ${vt.plural(rest.length, "more line")}`));
            return items;
        }

        legendOfVerdicts(item) {
            return this.sumsBy(site => this.verdictOf(site))
                .sort((a, b) => vt.verdicts.indexOf(a.key) - vt.verdicts.indexOf(b.key))
                .map(({ key, bytes }) => item("v-" + key, `${vt.bytes(bytes)}  ${key}`));
        }

        verdictOf(site) {
            return this.page.sites[site] ? this.page.sites[site].verdict : "unknown";
        }

        // The colour key of a piece: its line of code, or that it belongs to a library or a cache. null: unknown.
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
            const bytes = d3.sum(regions, region => region.bytes) || 1;
            // There is a gap between two regions, except where they are only a few pixels.
            let scale = (width * ROWS) / bytes;
            const gapOf = region => Math.min(GAP, (region.bytes * scale) / 8);
            scale *= 1 - d3.sum(regions, gapOf) / (width * ROWS);
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
            const regions = vt.count(this.map.regions.length);
            this.canvas.setAttribute("aria-label", `${this.moment.textContent}; ${regions} regions`);
            this.canvas.dataset.pieces = String(d3.sum(this.placed, place => place.region.pieces.length));
            this.showLegend();
            if (this.found) this.outline(ink);
        }

        piece(ink, piece, base, idle, ground) {
            const from = base + piece.offset * this.scale,
                to = from + piece.bytes * this.scale;
            const used = piece.blocks ? piece.bytes - piece.idle : 0;
            // A thin gap between neighbours, if there is space.
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
                if (wide >= LETTER && high >= LETTER) this.writeMark(ink, piece.site, x + wide / 2, y);
            });
            ink.globalAlpha = 1;
        }

        // A line's mark, once in each row of adjacent pieces of the line.
        writeMark(ink, site, x, y) {
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
            const tile = vt.el("canvas", { width: 6, height: 6 });
            const pen = tile.getContext("2d");
            pen.strokeStyle = vt.colour("hatch");
            pen.beginPath();
            for (const from of [-6, 0, 6]) {
                pen.moveTo(from - 1, 7);
                pen.lineTo(from + 7, -1);
            }
            pen.stroke();
            return ink.createPattern(tile, "repeat");
        }

        palette() {
            const found = new Map([["unknown", vt.colour("unowned")]]);
            if (this.by === "line") this.order.forEach(({ key }) => found.set(key, vt.colour(this.colourName(key))));
            else vt.verdicts.forEach(verdict => found.set(verdict, vt.colour("v-" + verdict)));
            return found;
        }

        // The colour of lineOf()'s result.
        colourName(line) {
            if (line === null) return "rest";
            return OTHERS[line] ? OTHERS[line][0] : this.page.lines[line].colour;
        }

        colourOf(site) {
            const key = this.by === "line" ? this.lineOf(site) : this.verdictOf(site);
            return (this.page.sites[site] && this.colours.get(key)) || this.colours.get("unknown");
        }

        outline(ink) {
            const { place, piece } = this.found;
            const from = place.from + piece.offset * this.scale;
            ink.strokeStyle = vt.colour("ink");
            ink.lineWidth = 2;
            this.stretch(from, from + Math.max(piece.bytes * this.scale, 3), (x, y, wide) =>
                ink.strokeRect(x, y, wide, ROW)
            );
        }

        /* --- navigation --- */

        at(event) {
            const box = this.canvas.getBoundingClientRect();
            const row = Math.floor((event.clientY - box.top) / (ROW + BETWEEN));
            const x = row * this.width + event.clientX - box.left;
            const place = this.placed[d3.bisector(found => found.from).right(this.placed, x) - 1];
            if (!place || x >= Math.max(place.to, place.from + 1)) return null;
            const { pieces } = place.region;
            const from = d3.bisector(found => place.from + found.offset * this.scale);
            const piece = pieces[from.right(pieces, x) - 1];
            return piece ? { place, piece } : null;
        }

        tell({ place, piece }, { clientY }) {
            const { region } = place;
            const site = piece.blocks ? this.page.sites[piece.site] : null;
            const pairs = [["bytes", vt.bytes(piece.bytes)]];
            if (piece.blocks > 1) pairs.push(["blocks", vt.count(piece.blocks)]);
            if (piece.blocks && piece.idle) pairs.push(["idle among them", vt.bytes(piece.idle)]);
            if (site) pairs.push(["verdict", site.verdict]);
            pairs.push([region.segment ? "in a segment of" : "driver allocation of", vt.bytes(region.bytes)]);
            pairs.push(["address", region.address + (piece.offset ? " + " + vt.bytes(piece.offset) : "")]);
            const name = piece.blocks ? (site ? site.at : "a line that is not known") : "idle";
            return [name, pairs, this.rowOf(clientY)];
        }

        click(found, event) {
            if (event.detail > 1) return this.zoomTo(found.place.region);
            this.found = found;
            this.draw();
            this.canvas.focus();
            const { blocks, site } = found.piece;
            if (blocks && this.page.sites[site]) vt.select({ site, owner: null }, this);
        }

        zoomTo(region) {
            this.region = region;
            this.found = null;
            this.draw();
        }

        step(by) {
            const all = this.placed.flatMap(place => place.region.pieces.map(piece => ({ place, piece })));
            const now = this.found ? all.findIndex(({ piece }) => piece === this.found.piece) : -1;
            this.found = all[Math.min(Math.max(now + by, 0), all.length - 1)] || null;
            this.draw();
            if (!this.found) return;
            const box = this.canvas.getBoundingClientRect();
            const x = this.found.place.from + this.found.piece.offset * this.scale;
            const clientY = box.top + Math.floor(x / this.width) * (ROW + BETWEEN);
            const [name, pairs, around] = this.tell(this.found, { clientY });
            this.canvas.setAttribute("aria-label", [name, ...pairs.map(pair => pair.join(" "))].join(", "));
            vt.tipOf({ clientX: box.left + (x % this.width), clientY }, name, pairs, around);
        }

        // The row of the map at this height of the window.
        rowOf(y) {
            const box = this.canvas.getBoundingClientRect(),
                each = ROW + BETWEEN;
            const top = box.top + Math.floor((y - box.top) / each) * each;
            return { left: box.left, right: box.right, top, bottom: top + each };
        }

        keys() {
            return {
                ArrowRight: () => this.step(1),
                ArrowLeft: () => this.step(-1),
                ArrowDown: () => this.step(20),
                ArrowUp: () => this.step(-20),
                Enter: () => this.found && this.zoomTo(this.found.place.region),
                Escape: () => (vt.tooltip(null, []), this.zoomTo(null)),
            };
        }

        mark(sites) {
            this.marked = sites;
        }

        // Another picture chose a moment: the map nearest to it.
        select(selection, changed) {
            if (!this.element || !changed.includes("time") || selection.time === null)
                return super.select(selection, changed);
            this.mark(vt.markedSites(this.page, selection));
            const away = map => Math.abs(map.at - selection.time);
            this.choose(d3.scan(this.list, (a, b) => away(a) - away(b)));
        }
    }

    vt.areas("addresses", "Addresses", 13, Addresses);
})();
