/* SPDX-License-Identifier: MIT */
/*
 * The flame graph: which calls hold the memory. A frame is as wide as the bytes allocated below it; the outermost
 * frame is at the top, or, inverted, the allocating one. Wide frames are elements, so they can be read aloud and
 * reached by keys; narrow ones are painted on a canvas below, and those of less than half a pixel become one strip.
 * page.js draws it when its tab is opened.
 */
"use strict";

(function () {
    const ROW = 19; // pixels of a frame's height
    const WIDE = 14; // pixels from which a frame is an element
    const LEAST = 0.5; // pixels; narrower frames are painted as one

    // The value of a frame's width: key, name, value of a site.
    const VALUES = [
        ["live", "live at the end", site => site.live_bytes],
        ["peak", "live at the peak", site => site.bytes_at_peak],
        ["allocated", "allocated over the run", site => site.allocated_bytes],
        ["leaked", "leaked", site => site.leaked_bytes],
    ];

    const { isHost } = vt;

    // The sites to include. A caching allocator's segments contain blocks that have stacks of their own: only one of
    // both is shown.
    const MEMORY = [
        ["use", "in use", site => !isHost(site) && !site.segments],
        ["driver", "driver calls, with caches", site => site.layer === "driver"],
        ["host", "pinned and managed memory", isHost],
    ];

    const KINDS = [
        ["python-own", "your Python code"],
        ["python", "Python"],
        ["native-own", "your native code"],
        ["native", "native"],
    ];

    const CUT = { name: "[outer frames cut]" }; // the same mark as in exported formats

    const row = (rows, key) => rows.find(found => found[0] === key);

    // The frames to show for a site, outermost first.
    function pathOf(site, state) {
        const path = site.stack.filter(frame => state.native || frame.py || frame.own).map(frame => frame.place);
        if (site.stack_cut) path.push(CUT);
        if (!state.inverted) path.reverse();
        return path.length ? path : [null];
    }

    // The tree of all included sites, by their stacks; children sorted by bytes, largest first.
    function grow(page, state) {
        const make = frame => ({ frame, value: 0, blocks: 0, sites: [], children: new Map() });
        const bytesOf = row(VALUES, state.value)[2],
            counts = row(MEMORY, state.memory)[2];
        const blocksOf = { live: site => site.live_count, allocated: site => site.alloc_count }[state.value];
        const root = make(null);
        page.sites.forEach((site, index) => {
            const bytes = bytesOf(site) || 0;
            const here = state.device === null || isHost(site) || site.device === state.device;
            if (bytes <= 0 || !here || !counts(site)) return;
            const add = node => {
                node.value += bytes;
                node.blocks = blocksOf ? node.blocks + blocksOf(site) : null;
                node.sites.push(index);
                return node;
            };
            pathOf(site, state).reduce((node, frame) => {
                if (!node.children.has(frame)) node.children.set(frame, make(frame));
                return add(node.children.get(frame));
            }, add(root));
        });
        return d3.hierarchy(root, node => [...node.children.values()]).sort((a, b) => b.value - a.value);
    }

    const childrenOf = node => node.children || [];

    // The frames that match a text or regular expression; an invalid expression is searched for literally. null: no
    // text.
    function matching(frames, text) {
        if (!text) return null;
        let pattern;
        try {
            pattern = new RegExp(text, "i");
        } catch (fault) {
            pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
        }
        const words = frame => [frame.name, frame.where, frame.module].filter(word => word);
        return new Set(frames.filter(frame => words(frame).some(word => pattern.test(word))));
    }

    class Flame extends vt.Areas {
        constructor(panel, page) {
            super(page);
            this.state = { value: "peak", memory: "use", device: null, inverted: false, native: true };
            this.rows = [];
            this.matched = null;
            const any = (memory, value) => page.sites.some(site => row(MEMORY, memory)[2](site) && value(site) > 0);
            if (!any("use", site => site.allocated_bytes)) this.state.memory = "host";
            // Not the end: there a caching allocator is empty, and an interpreter has freed everything.
            this.state.value = any(this.state.memory, site => site.leaked_bytes) ? "leaked" : "peak";
            this.makeControls(panel);
            this.makeArea(panel);
            this.rebuild();
        }

        /* --- controls and texts --- */

        makeControls(panel) {
            const { sites } = this.page,
                { state } = this;
            const set = key => value => {
                state[key] = value;
                this.rebuild();
            };
            const tools = vt.el("div", { class: "tools" });
            tools.append(vt.picker("bytes", VALUES, state.value, set("value"), { class: "flame-value" }));
            if (sites.some(site => isHost(site) || site.segments)) {
                tools.append(vt.picker("memory", MEMORY, state.memory, set("memory"), { class: "flame-memory" }));
            }
            const devices = [...new Set(sites.filter(site => !isHost(site)).map(site => site.device))].sort();
            if (devices.length > 1) {
                const rows = [[null, "all"], ...devices.map(device => [device, vt.deviceName(device)])];
                tools.append(vt.picker("device", rows, null, set("device"), { class: "flame-device" }));
            }
            tools.append(
                vt.tick("inverted", state.inverted, set("inverted"), { class: "flame-inverted" }),
                vt.tick("native frames", state.native, set("native"), { class: "flame-native" })
            );
            this.makeSearch(tools);
            const keys = KINDS.map(([kind, text]) => vt.el("span", null, vt.el("i", { class: "key f-" + kind }), text));
            panel.append(tools, vt.el("div", { class: "legend" }, keys));
        }

        makeSearch(tools) {
            const words = { placeholder: "search: text or regex ( / )", "aria-label": "search frames" };
            this.input = vt.el("input", { type: "search", class: "flame-search", ...words });
            this.found = vt.el("span", { class: "dim flame-found", role: "status" });
            this.back = vt.button("show all", () => this.zoomTo(this.root), { class: "flame-back" });
            this.input.addEventListener("input", () => {
                this.matched = matching(this.page.frames, this.input.value.trim());
                this.draw();
            });
            this.input.addEventListener("keydown", event => {
                if (event.key === "Escape") this.leave();
                else if (event.key !== "Enter") return;
                this.area.focus();
                event.preventDefault();
                event.stopPropagation();
            });
            tools.append(this.input, this.found, this.back);
            vt.key("/", "search the flame graph", () => {
                vt.open("flame", true);
                this.input.focus({ preventScroll: true });
            });
        }

        makeArea(panel) {
            this.canvas = vt.el("canvas", { "aria-hidden": "true" });
            this.boxes = vt.el("div", {});
            const role = { role: "tree", "aria-label": "flame graph" };
            this.area = vt.el("div", { class: "flame", tabindex: "0", ...role }, this.canvas, this.boxes);
            this.detail = vt.el("div", { class: "flame-detail dim", "aria-live": "polite" });
            panel.append(this.detail, this.area);
            this.listen(this.area);
        }

        /* --- words --- */

        nameOf(node) {
            if (!node.parent) return row(VALUES, this.state.value)[1] + ": " + vt.bytes(node.value);
            const { frame } = node.data;
            if (!frame) return "no frame is known";
            return frame.name || (frame.module ? "in " + vt.basename(frame.module) : "unknown");
        }

        placeOf({ data: { frame } }) {
            return frame ? frame.where || "" : ""; // a cut stack's frame has no place
        }

        labelOf(node) {
            const { frame } = node.data;
            return frame && frame.file ? this.nameOf(node) + "  " + vt.basename(this.placeOf(node)) : this.nameOf(node);
        }

        kindOf({ data: { frame } }) {
            return frame ? (frame.py ? "python" : "native") + (frame.own ? "-own" : "") : "none";
        }

        emptyText() {
            if (this.state.value === "leaked") return "Nothing here leaked.";
            if (this.state.value === "live")
                return "Nothing here was live at the end: look at the peak, or at all that was allocated.";
            return "Nothing here was allocated.";
        }

        /* --- drawing --- */

        rebuild() {
            this.root = grow(this.page, this.state);
            this.zoom = this.root;
            this.focus = null;
            this.mark(new Set());
            this.draw();
        }

        // Places each visible frame: the zoomed one and those above it have the full width.
        layout(width) {
            this.rows = [];
            for (const node of this.zoom.ancestors()) {
                Object.assign(node, { x: 0, width, strip: null });
                this.rows[node.depth] = [node];
            }
            this.rows[this.zoom.depth] = [];
            const place = (node, x, wide) => {
                Object.assign(node, { x, width: wide, strip: null });
                if (!this.rows[node.depth]) this.rows[node.depth] = [];
                this.rows[node.depth].push(node);
                let at = x,
                    left = node.value;
                for (const child of childrenOf(node)) {
                    const part = (wide * child.value) / node.value;
                    if (part < LEAST) break; // the following children are even smaller
                    place(child, at, part);
                    at += part;
                    left -= child.value;
                }
                const strip = (wide * left) / node.value;
                if (strip >= LEAST && at > x) node.strip = { x: at, width: strip };
            };
            place(this.zoom, 0, width);
        }

        draw() {
            this.back.hidden = this.zoom === this.root;
            if (!this.root.value) {
                this.rows = [];
                this.boxes.replaceChildren(vt.el("p", { class: "empty" }, this.emptyText()));
                this.canvas.height = 0;
                this.area.style.height = "60px";
                this.found.textContent = this.detail.textContent = "";
                return;
            }
            this.layout(Math.max(100, this.area.clientWidth));
            this.paint();
            this.share();
            this.describe(this.focus || this.zoom);
        }

        // Bytes of call sites without stacks on the page, which has only the largest ones.
        leftOut() {
            const { value, memory } = this.state,
                bytesOf = row(VALUES, value)[2];
            const rows = this.page.sites_left_out.filter(left => isHost(left) === (memory === "host") && bytesOf(left) > 0);
            if (!rows.length) return "";
            const sites = vt.plural(d3.sum(rows, left => left.sites), "more call site");
            return `${sites} with ${vt.bytes(d3.sum(rows, bytesOf))} are not listed in this page`;
        }

        isMarked(node) {
            return this.marked.has(node) || (this.matched !== null && this.matched.has(node.data.frame));
        }

        paint() {
            const width = Math.max(100, this.area.clientWidth),
                height = this.rows.length * ROW + 2;
            this.area.style.height = height + "px";
            const ink = vt.canvas(this.canvas, width, height);
            const colours = { match: vt.colour("f-match"), none: vt.colour("idle") };
            for (const [kind] of KINDS) colours[kind] = vt.colour("f-" + kind);
            const pale = this.matched !== null || this.marked.size > 0;
            const boxes = [];
            for (const line of this.rows) {
                for (const node of line) {
                    const marked = this.isMarked(node),
                        y = node.depth * ROW;
                    if (node.width >= WIDE) boxes.push(this.box(node, marked, pale));
                    else {
                        ink.globalAlpha = pale && !marked ? 0.4 : 1;
                        ink.fillStyle = marked ? colours.match : colours[this.kindOf(node)];
                        ink.fillRect(node.x, y, Math.max(node.width - 0.4, 0.4), ROW - 1);
                    }
                    if (!node.strip) continue;
                    ink.globalAlpha = 0.5;
                    ink.fillStyle = colours.none;
                    ink.fillRect(node.strip.x, y + ROW, node.strip.width, ROW - 1);
                }
            }
            this.boxes.replaceChildren(...boxes);
        }

        box(node, marked, pale) {
            const label = this.labelOf(node);
            const classes = ["frame", "f-" + this.kindOf(node)];
            if (marked) classes.push("match");
            else if (pale) classes.push("other");
            if (node === this.focus) classes.push("focus");
            if (node.depth < this.zoom.depth) classes.push("outer");
            const spoken = label + ", " + vt.bytes(node.value) + ", " + vt.share(node.value, this.root.value);
            const style = `left: ${node.x}px; width: ${Math.max(1, node.width - 1)}px; top: ${node.depth * ROW}px;`;
            const attributes = { class: classes.join(" "), role: "treeitem", "aria-label": spoken, style };
            return vt.el("div", attributes, node.width > 30 ? label : null);
        }

        // Shows the share of the matching frames. A match inside another holds the same bytes again.
        share() {
            let bytes = 0,
                count = 0;
            const walk = (node, inside) => {
                const hit = this.matched.has(node.data.frame);
                if (hit) count++;
                if (hit && !inside) bytes += node.value;
                childrenOf(node).forEach(child => walk(child, inside || hit));
            };
            if (this.matched) walk(this.zoom, false);
            if (!this.matched) this.found.textContent = "";
            else if (!count) this.found.textContent = "no frame matches";
            else
                this.found.textContent =
                    `${vt.plural(count, "frame")}: ${vt.share(bytes, this.zoom.value)}, ` + vt.bytes(bytes);
        }

        describe(node) {
            const parts = [this.nameOf(node), this.placeOf(node)];
            if (node.parent) parts.push(vt.bytes(node.value), vt.share(node.value, this.root.value));
            if (node === this.root) parts.push(this.leftOut());
            this.detail.textContent = parts.filter(part => part).join("   ");
        }

        tell(node) {
            const { blocks, sites } = node.data;
            const pairs = [
                ["bytes", vt.bytes(node.value)],
                ["share", vt.share(node.value, this.root.value)],
            ];
            if (node.parent) pairs.unshift(["at", this.placeOf(node) || "unknown"]);
            if (blocks !== null) pairs.push([this.state.value === "live" ? "blocks" : "allocations", vt.count(blocks)]);
            pairs.push(["call sites", vt.count(sites.length)]);
            const box = this.area.getBoundingClientRect(),
                top = box.top + node.depth * ROW;
            const around = { left: box.left + node.x, right: box.left + node.x + node.width, top, bottom: top + ROW };
            return [this.nameOf(node), pairs, around];
        }

        /* --- navigation --- */

        at(event) {
            const box = this.area.getBoundingClientRect();
            const x = event.clientX - box.left;
            const line = this.rows[Math.floor((event.clientY - box.top) / ROW)] || [];
            return line.find(node => x >= node.x && x < node.x + node.width) || null;
        }

        click(node) {
            this.zoomTo(node);
        }

        zoomTo(node) {
            this.zoom = this.focus = node;
            this.mark(new Set());
            this.draw();
            vt.select({ line: node === this.root ? null : this.lineOf(node.data.sites), owner: null }, this);
        }

        // The line of code common to all these sites, or null.
        lineOf(sites) {
            const lines = new Set(sites.map(site => this.page.sites[site].line));
            return lines.size === 1 ? [...lines][0] : null;
        }

        focusOn(node) {
            if (!node) return;
            this.focus = node;
            // A hidden frame is made visible by zooming out, or into the one above it.
            const seen = () => (this.rows[node.depth] || []).includes(node);
            if (!seen()) this.zoom = node.parent || node;
            this.draw();
            if (!seen()) {
                this.zoom = node;
                this.draw();
            }
            const box = this.boxes.querySelector(".focus");
            if (box) box.scrollIntoView({ block: "nearest" });
        }

        keys() {
            const at = this.focus || this.zoom;
            const beside = by => {
                const all = at.parent ? at.parent.children : [at];
                return all[all.indexOf(at) + by];
            };
            return {
                ArrowDown: () => this.focusOn(childrenOf(at)[0]),
                ArrowUp: () => this.focusOn(at.parent),
                ArrowLeft: () => this.focusOn(beside(-1)),
                ArrowRight: () => this.focusOn(beside(1)),
                Home: () => this.focusOn(this.root),
                Enter: () => this.zoomTo(at),
                Escape: () => this.leave(),
            };
        }

        // Escape: the search first, then the zoom.
        leave() {
            if (this.matched !== null) {
                this.input.value = "";
                this.matched = null;
                this.draw();
            } else if (this.zoom !== this.root) this.zoomTo(this.root);
        }

        // Marks the path to the sites selected elsewhere.
        mark(sites) {
            const below = this.root.descendants().slice(1);
            this.marked = new Set(below.filter(node => node.data.sites.some(site => sites.has(site))));
        }
    }

    vt.areas("flame", "Flame graph", 11, Flame);
})();
