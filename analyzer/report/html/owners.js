/* SPDX-License-Identifier: MIT */
/*
 * The tree map of owners: what holds the memory at a snapshot, from the module or frame to the attribute to its
 * blocks, by the owners' paths. An area is as large as the bytes it holds and has the colour of what the memory
 * is for. Memory that has no known owner is shown as such. page.js draws it when its tab is opened.
 */
"use strict";

(function () {
    const HEIGHT = 520,
        HEAD = 17; // pixels: of the map, of a group's title
    const LEAST = 2; // pixels; narrower areas are left to the background
    const ROLES = ["parameters", "gradients", "optimizer", "activations", "buffers", "batch", "other"];
    const ROOTS = {
        exception: "an exception",
        global: "a global",
        thread_local: "a thread's data",
        native_stack: "a native stack",
        interpreter: "the interpreter",
        cycle: "a reference cycle",
    };
    const HINT = "An area leads to the lines that allocated it; a title zooms into its group.";
    const UNOWNED = "unowned",
        RUNTIME = "runtime",
        SMALLER = "smaller";
    const SPECIAL = {
        [UNOWNED]: "no owner found",
        [RUNTIME]: "CUDA libraries",
        [SMALLER]: "smaller owners, not listed",
    };

    // Where an owner belongs, and the steps of its path that make up its name: what comes before them is the way to
    // the place, what follows are the types of the objects at its end.
    function stepsOf(owner) {
        const path = owner.path || [],
            steps = [];
        let text = "";
        for (const step of path.slice(
            Math.max(
                0,
                path.findIndex(first => owner.name.startsWith(first))
            )
        )) {
            if (!owner.name.startsWith(text + step)) break;
            text += step;
            steps.push(step);
        }
        const rest = owner.name.slice(text.length); // " (local of main())"
        const place = owner.place || ROOTS[owner.root] || "somewhere";
        return steps.length ? [place + rest, ...steps] : [place, owner.name];
    }

    // {name, children} or {name, owner, value, kind}; a group with one child becomes one with it.
    function treeOf(snapshot) {
        const top = { name: "", children: [], groups: new Map() };
        const group = (parent, name) => {
            if (!parent.groups.has(name)) {
                const made = { name, children: [], groups: new Map() };
                parent.groups.set(name, made);
                parent.children.push(made);
            }
            return parent.groups.get(name);
        };
        snapshot.owners.forEach((owner, index) => {
            if (owner.bytes <= 0) return;
            const at = stepsOf(owner).reduce(group, top);
            at.children.push({
                name: "",
                owner,
                index,
                value: owner.bytes,
                kind: ROLES.includes(owner.role) ? owner.role : "other",
            });
        });
        const special = (kind, bytes) =>
            bytes > 0 && top.children.push({ name: SPECIAL[kind], kind, value: bytes });
        special(UNOWNED, snapshot.unowned - (snapshot.runtime || 0)); // which counts among it
        special(RUNTIME, snapshot.runtime);
        special(SMALLER, snapshot.bytes_left_out);
        top.children.forEach(place => (place.children || []).forEach(join)); // the places stay as they are
        return top;
    }

    function join(node) {
        while (node.children && node.children.length === 1) {
            const only = node.children[0];
            const between = !only.name || /^[.[]/.test(only.name) || !node.name ? "" : " › ";
            node.name += between + only.name;
            Object.assign(node, {
                children: only.children,
                owner: only.owner,
                index: only.index,
                value: only.value,
                kind: only.kind,
            });
        }
        if (node.children) node.children.forEach(join);
    }

    class Owners {
        constructor(panel, page) {
            this.page = page;
            this.snapshots = page.snapshots;
            this.marked = new Set();
            if (!this.snapshots.length) {
                panel.append(...this.absence());
                return;
            }
            this.makeControls(panel);
            this.map = vt.el("div", {
                class: "treemap",
                tabindex: "0",
                role: "tree",
                "aria-label": "owners of the memory",
            });
            this.map.style.height = HEIGHT + "px";
            this.panel = vt.el("div", { class: "owner-panel", "aria-live": "polite" });
            panel.append(this.map, this.panel);
            this.map.addEventListener("click", event => this.click(event));
            this.map.addEventListener("mousemove", event => this.tip(event));
            this.map.addEventListener("mouseleave", () => vt.tooltip(null, []));
            this.map.addEventListener("keydown", event => this.key(event));
            this.choose(this.first);
        }

        absence() {
            return [
                vt.el(
                    "p",
                    { class: "empty" },
                    "This log has no snapshot of the owners, so what held the memory is not known."
                ),
                vt.el(
                    "p",
                    { class: "dim" },
                    "A snapshot is taken when a Python process ends and when memory runs out (VRAMTRACE_SNAPSHOT=end,oom, " +
                        "the default); vramtrace snapshot PID takes one of a process that runs."
                ),
            ];
        }

        makeControls(panel) {
            const rows = this.snapshots.map((one, index) => {
                const moment = one.moment || one.why;
                const text = /\d/.test(moment) ? moment : `${moment}, ${vt.duration(one.at)}`;
                return [index, one.complete ? text : text + " (incomplete)"];
            });
            // At first, what was held when memory ran out; else the one that the text report shows.
            const ran = this.page.ooms.length ? this.snapshots.map(one => one.why).lastIndexOf("oom") : -1;
            this.first = ran >= 0 ? ran : this.page.snapshot_shown;
            this.back = vt.el(
                "button",
                { type: "button", class: "owners-back", onclick: () => this.zoomTo(null) },
                "show all"
            );
            this.crumb = vt.el("span", { class: "dim" });
            this.legend = vt.el("div", { class: "legend" });
            const picker = vt.picker("snapshot", rows, this.first, index => this.choose(index), {
                class: "owners-snapshot",
            });
            panel.append(vt.el("div", { class: "tools" }, picker, this.back, this.crumb), this.legend);
        }

        choose(index) {
            this.index = index;
            this.snapshot = this.snapshots[index];
            this.top = d3
                .hierarchy(treeOf(this.snapshot))
                .sum(node => node.value || 0)
                .sort((a, b) => b.value - a.value);
            this.zoom = this.top;
            this.focus = null;
            this.showLegend();
            this.panel.replaceChildren(vt.el("p", { class: "dim" }, HINT));
            this.draw();
        }

        showLegend() {
            const sums = new Map();
            for (const leaf of this.top.leaves())
                sums.set(leaf.data.kind, (sums.get(leaf.data.kind) || 0) + leaf.value);
            const shown = [...ROLES, ...Object.keys(SPECIAL)].filter(kind => sums.get(kind));
            this.legend.replaceChildren(
                ...shown.map(kind =>
                    vt.el(
                        "span",
                        null,
                        vt.el("i", { class: "key r-" + kind }),
                        `${SPECIAL[kind] || kind} ${vt.bytes(sums.get(kind))}`
                    )
                )
            );
            if (!this.snapshot.complete)
                this.legend.append(vt.el("span", { class: "warn" }, "this snapshot was not completed"));
        }

        nameOf(node) {
            const names = node
                .ancestors()
                .reverse()
                .slice(1)
                .map(step => step.data.name)
                .filter(name => name);
            return names.reduce(
                (text, name) => (!text ? name : /^[.[]/.test(name) ? text + name : text + " › " + name),
                ""
            );
        }

        draw() {
            if (!this.map) return;
            this.shown = [];
            this.back.hidden = this.zoom === this.top;
            this.crumb.textContent =
                this.zoom === this.top ? "" : `${this.nameOf(this.zoom)}: ${vt.bytes(this.zoom.value)}`;
            if (!this.top.value) {
                this.map.replaceChildren(vt.el("p", { class: "empty" }, "Nothing was live at this snapshot."));
                return;
            }
            const width = Math.max(100, this.map.clientWidth);
            const copy = this.zoom.copy();
            d3
                .treemap()
                .size([width, HEIGHT])
                .round(true)
                .paddingInner(1)
                .paddingOuter(2)
                .paddingTop(node => (node.depth && node.children ? HEAD : 2))(copy);
            const boxes = [];
            const pairs = (node, real) => {
                if (node.x1 - node.x0 < LEAST || node.y1 - node.y0 < LEAST) return;
                if (node.depth || !node.children) boxes.push(this.box(node, real));
                (node.children || []).forEach((child, index) => pairs(child, real.children[index]));
            };
            pairs(copy, this.zoom);
            this.map.replaceChildren(...boxes);
        }

        box(node, real) {
            const wide = node.x1 - node.x0,
                high = node.y1 - node.y0;
            const leaf = !node.children;
            const classes = [leaf ? "owner r-" + node.data.kind : "owner-group"];
            if (real === this.focus) classes.push("focus");
            if (leaf && this.marked.size) classes.push(this.isMarked(real) ? "match" : "other");
            const text = leaf && !node.data.name ? this.lastName(real) : node.data.name;
            const title = `${text}  ${vt.bytes(node.value)}`;
            const box = vt.el(
                "div",
                {
                    class: classes.join(" "),
                    role: "treeitem",
                    "aria-label": `${this.nameOf(real)}, ${vt.bytes(node.value)}`,
                },
                wide > 34 && high > 12 ? title : ""
            );
            Object.assign(box.style, {
                left: node.x0 + "px",
                top: node.y0 + "px",
                width: wide + "px",
                height: high + "px",
            });
            box.dataset.index = this.shown.push(real) - 1;
            return box;
        }

        // An area without a name is one of several of its group: by its role.
        lastName(node) {
            return node.data.owner ? node.data.owner.role : "";
        }

        isMarked(node) {
            return node.data.owner && node.data.owner.sites.some(([site]) => this.marked.has(site));
        }

        /* --- going through it --- */

        nodeAt(event) {
            const box = event.target.closest("[data-index]");
            return box ? this.shown[Number(box.dataset.index)] : null;
        }

        click(event) {
            const node = this.nodeAt(event);
            if (node) this.open(node);
        }

        open(node) {
            this.focus = node;
            if (node.children) this.zoomTo(node);
            else {
                this.draw();
                this.describe(node);
                this.choosing = true;
                if (node.data.owner)
                    vt.select({ owner: { snapshot: this.index, owner: node.data.index }, site: null, line: null });
                this.choosing = false;
            }
        }

        zoomTo(node) {
            this.zoom = node || this.top;
            this.draw();
            if (!node) vt.select({ owner: null });
        }

        describe(node) {
            const { owner, kind } = node.data;
            const rows = [["held by", owner ? owner.name : SPECIAL[kind]]];
            if (owner) {
                rows.push(["in", owner.place || owner.root || "unknown"], ["for", owner.role]);
                rows.push([
                    "way there",
                    (owner.path || []).join(" → ") + (owner.graph ? " (graph of " + owner.graph + ")" : ""),
                ]);
            }
            rows.push([
                "bytes",
                `${vt.bytes(node.value)}, ${vt.share(node.value, this.top.value)} of this snapshot` +
                    (owner ? `, ${vt.plural(owner.count, "block")}` : ""),
            ]);
            if (kind === UNOWNED)
                rows.push(["why", "no way from a name to this memory was found: native code may hold it"]);
            const list = vt.el(
                "dl",
                null,
                rows.flatMap(([name, text]) => [vt.el("dt", null, name), vt.el("dd", null, text)])
            );
            const lines = (owner ? owner.sites : []).map(([site, bytes, count]) =>
                vt.el(
                    "li",
                    null,
                    vt.el("span", { class: "number" }, vt.bytes(bytes)),
                    " ",
                    vt.link(this.page.sites[site].name, { site }, "owner-line"),
                    vt.el("span", { class: "dim" }, "  " + vt.plural(count, "block"))
                )
            );
            this.panel.replaceChildren(list);
            if (lines.length)
                this.panel.append(vt.el("h4", null, "allocated at"), vt.el("ul", { class: "plain" }, lines));
        }

        tip(event) {
            const node = this.nodeAt(event);
            if (!node) return vt.tooltip(event, []);
            const { owner } = node.data;
            const pairs = [
                ["bytes", vt.bytes(node.value)],
                ["share", vt.share(node.value, this.top.value)],
            ];
            if (owner) {
                pairs.push(["for", owner.role], ["blocks", vt.count(owner.count)]);
                pairs.push(...owner.sites.slice(0, 3).map(([site]) => ["line", this.page.sites[site].name]));
            }
            return vt.tipOf(event, this.nameOf(node) || SPECIAL[node.data.kind], pairs);
        }

        // The arrows go through the areas that are seen, by size, into groups and out of them.
        key(event) {
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            const at = this.focus && this.shown.includes(this.focus) ? this.focus : null;
            const beside = by => {
                const all = (at.parent || at).children || [at];
                return all[all.indexOf(at) + by] || at;
            };
            const keys = {
                ArrowRight: () => (at ? beside(1) : this.shown[0]),
                ArrowLeft: () => (at ? beside(-1) : this.shown[0]),
                ArrowDown: () => (at && at.children ? at.children[0] : at || this.shown[0]),
                ArrowUp: () => (at && at.parent && at.parent !== this.zoom ? at.parent : at),
            };
            if (keys[event.key]) {
                this.focus = keys[event.key]() || null;
                this.draw();
                if (this.focus) this.describe(this.focus);
            } else if (event.key === "Enter" && at) this.open(at);
            else if (event.key === "Escape" && this.zoom !== this.top)
                this.zoomTo(this.zoom.parent === this.top ? null : this.zoom.parent);
            else return;
            event.preventDefault();
            event.stopPropagation();
        }

        select(selection, changed) {
            if (this.choosing || !this.map || !changed.some(key => ["site", "line", "owner"].includes(key))) return;
            this.marked = selection.owner ? new Set() : vt.markedSites(this.page, selection);
            this.draw();
        }

        resize() {
            this.draw();
        }
    }

    vt.part({
        id: "owners",
        title: "Owners",
        order: 12,
        tab: true,
        wanted: page => page.sites.length > 0,
        draw: (panel, page) => new Owners(panel, page),
    });
})();
