/* SPDX-License-Identifier: MIT */
/*
 * The tree map of owners: the objects that hold memory at a snapshot, from the module or frame to the attribute to
 * its blocks, by the owners' paths. An area is proportional to its bytes and has the colour of its purpose. Memory
 * without a known owner is shown as such. page.js draws it when its tab is opened.
 */
"use strict";

(function () {
    const HEIGHT = 520,
        HEAD = 17; // pixels: height of the map, of a group's title
    const LEAST = 2; // pixels; narrower areas are not drawn
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

    // An owner's place, and the steps of its path that make up its name: earlier steps lead to the place, later ones
    // are the types of the objects at its end.
    function stepsOf(owner) {
        const path = owner.path || [],
            steps = [];
        let text = "";
        for (const step of path.slice(Math.max(0, path.findIndex(first => owner.name.startsWith(first))))) {
            if (!owner.name.startsWith(text + step)) break;
            text += step;
            steps.push(step);
        }
        const rest = owner.name.slice(text.length); // " (local of main())"
        const place = owner.place || ROOTS[owner.root.kind] || "somewhere";
        return steps.length ? [place + rest, ...steps] : [place, owner.name];
    }

    // {name, children} or {name, owner, value, kind}; a group with one child is merged with it.
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
            const kind = vt.roles.includes(owner.role) ? owner.role : "other";
            stepsOf(owner).reduce(group, top).children.push({ name: "", owner, index, value: owner.bytes, kind });
        });
        const special = (kind, bytes) =>
            bytes > 0 && top.children.push({ name: SPECIAL[kind], kind, value: bytes });
        special(UNOWNED, snapshot.unowned_bytes - snapshot.runtime_bytes); // which are part of it
        special(RUNTIME, snapshot.runtime_bytes);
        special(SMALLER, snapshot.owners_left_out_bytes);
        // (the places themselves are not merged)
        top.children.forEach(place => (place.children || []).forEach(join));
        return top;
    }

    function join(node) {
        while (node.children && node.children.length === 1) {
            const only = node.children[0];
            const between = !only.name || /^[.[]/.test(only.name) || !node.name ? "" : " › ";
            delete node.children;
            Object.assign(node, only, { name: node.name + between + only.name });
        }
        if (node.children) node.children.forEach(join);
    }

    // "history[*] › .grad": the joined names of a path.
    const joined = names =>
        names.reduce((text, name) => (!text ? name : text + (/^[.[]/.test(name) ? "" : " › ") + name), "");

    class Owners extends vt.Areas {
        constructor(panel, page) {
            super(page);
            this.snapshots = page.snapshots;
            if (!this.snapshots.length) {
                panel.append(...this.absence());
                return;
            }
            this.makeControls(panel);
            const role = { role: "tree", "aria-label": "owners of the memory" };
            this.map = vt.el("div", { class: "treemap", tabindex: "0", ...role, style: `height: ${HEIGHT}px;` });
            this.panel = vt.el("div", { class: "owner-panel", "aria-live": "polite" });
            panel.append(this.map, this.panel);
            this.listen(this.map);
            this.choose(this.first);
        }

        absence() {
            const text = "This log has no snapshot of the owners, so the owners of the memory are unknown.";
            const how =
                "A snapshot is taken when a Python process ends and when memory runs out (VRAMTRACE_SNAPSHOT=end,oom, " +
                "the default); vramtrace snapshot PID takes one of a running process.";
            return [vt.el("p", { class: "empty" }, text), vt.aside(how)];
        }

        makeControls(panel) {
            const rows = this.snapshots.map((one, index) => {
                const moment = one.moment || one.why;
                const text = /\d/.test(moment) ? moment : `${moment}, ${vt.duration(one.at_ns)}`;
                return [index, one.complete ? text : text + " (incomplete)"];
            });
            // Initially the snapshot taken when memory ran out; else the one in the text report.
            const ran = this.page.ooms.length ? this.snapshots.map(one => one.why).lastIndexOf("oom") : -1;
            this.first = ran >= 0 ? ran : this.page.snapshot_shown;
            this.back = vt.button("show all", () => this.zoomTo(null), { class: "owners-back" });
            this.crumb = vt.el("span", { class: "dim" });
            this.legend = vt.el("div", { class: "legend" });
            const choose = index => this.choose(index);
            const picker = vt.picker("snapshot", rows, this.first, choose, { class: "owners-snapshot" });
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
            this.panel.replaceChildren(vt.aside(HINT));
            this.draw();
        }

        showLegend() {
            const sums = new Map();
            for (const leaf of this.top.leaves())
                sums.set(leaf.data.kind, (sums.get(leaf.data.kind) || 0) + leaf.value);
            const shown = [...vt.roles, ...Object.keys(SPECIAL)].filter(kind => sums.get(kind));
            const item = kind => {
                const text = `${SPECIAL[kind] || kind} ${vt.bytes(sums.get(kind))}`;
                return vt.el("span", null, vt.el("i", { class: "key r-" + kind }), text);
            };
            this.legend.replaceChildren(...shown.map(item));
            if (!this.snapshot.complete)
                this.legend.append(vt.el("span", { class: "warn" }, "this snapshot was not completed"));
        }

        nameOf(node) {
            const path = node.ancestors().reverse().slice(1);
            return joined(path.map(step => step.data.name).filter(name => name));
        }

        draw() {
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
            const attributes = {
                class: classes.join(" "),
                role: "treeitem",
                "aria-label": `${this.nameOf(real)}, ${vt.bytes(node.value)}`,
                style: `left: ${node.x0}px; top: ${node.y0}px; width: ${wide}px; height: ${high}px;`,
                "data-index": this.shown.push(real) - 1,
            };
            return vt.el("div", attributes, wide > 34 && high > 12 ? title : "");
        }

        // An area without a name is one of several in its group: named by its role.
        lastName(node) {
            return node.data.owner ? node.data.owner.role : "";
        }

        isMarked(node) {
            return node.data.owner && node.data.owner.sites.some(([site]) => this.marked.has(site));
        }

        /* --- navigation --- */

        at(event) {
            const box = event.target.closest("[data-index]");
            return box ? this.shown[Number(box.dataset.index)] : null;
        }

        click(node) {
            this.focus = node;
            if (node.children) return this.zoomTo(node);
            this.draw();
            this.describe(node);
            const owner = { snapshot: this.index, owner: node.data.index };
            if (node.data.owner) vt.select({ owner, site: null, line: null }, this);
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
                const way = (owner.path || []).join(" → ") + (owner.graph ? " (graph of " + owner.graph + ")" : "");
                rows.push(["in", owner.place || owner.root.kind], ["for", owner.role], ["path", way]);
            }
            const blocks = owner ? `, ${vt.plural(owner.count, "block")}` : "";
            const share = vt.share(node.value, this.top.value);
            rows.push(["bytes", `${vt.bytes(node.value)}, ${share} of this snapshot${blocks}`]);
            if (kind === UNOWNED)
                rows.push(["why", "no named path to it was found: native code may hold it"]);
            this.panel.replaceChildren(vt.el("dl", null, vt.terms(rows)));
            const line = ([site, bytes, count]) => {
                const select = () => vt.select({ site });
                const link = vt.link(this.page.sites[site].at, select, { class: "link owner-line" });
                const blocks = vt.el("span", { class: "dim" }, "  " + vt.plural(count, "block"));
                return vt.el("li", null, vt.el("span", { class: "number" }, vt.bytes(bytes)), " ", link, blocks);
            };
            const lines = (owner ? owner.sites : []).map(line);
            if (lines.length)
                this.panel.append(vt.el("h4", null, "allocated at"), vt.el("ul", { class: "plain" }, lines));
        }

        tell(node) {
            const { owner } = node.data;
            const pairs = [
                ["bytes", vt.bytes(node.value)],
                ["share", vt.share(node.value, this.top.value)],
            ];
            if (owner) {
                pairs.push(["for", owner.role], ["blocks", vt.count(owner.count)]);
                pairs.push(...owner.sites.slice(0, 3).map(([site]) => ["line", this.page.sites[site].at]));
            }
            return [this.nameOf(node) || SPECIAL[node.data.kind], pairs];
        }

        // The arrow keys move through the visible areas, by size, into groups and out of them.
        keys() {
            const at = this.focus && this.shown.includes(this.focus) ? this.focus : null;
            const beside = by => {
                const all = (at.parent || at).children || [at];
                return all[all.indexOf(at) + by] || at;
            };
            const go = to => {
                this.focus = to || null;
                this.draw();
                if (this.focus) this.describe(this.focus);
            };
            const out = () => this.zoomTo(this.zoom.parent === this.top ? null : this.zoom.parent);
            return {
                ArrowRight: () => go(at ? beside(1) : this.shown[0]),
                ArrowLeft: () => go(at ? beside(-1) : this.shown[0]),
                ArrowDown: () => go(at && at.children ? at.children[0] : at || this.shown[0]),
                ArrowUp: () => go(at && at.parent && at.parent !== this.zoom ? at.parent : at),
                Enter: () => (at ? this.click(at) : false),
                Escape: () => (this.zoom === this.top ? false : out()),
            };
        }

        // The focus marks a selected owner.
        mark(sites) {
            this.marked = vt.selection.owner ? new Set() : sites;
        }
    }

    vt.areas("owners", "Owners", 12, Owners);
})();
