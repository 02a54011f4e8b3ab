/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the pictures of areas (flame graph, owners, addresses): pointing, clicking and moving by keys,
 * shares as text, canvases, tooltips of several values, controls, and the selected sites.
 */
"use strict";

/* A picture of areas. It has
 *     at(event)      the area under the pointer, or null
 *     tell(area, event)  [title, pairs, around] of vt.tipOf
 *     click(area, event)
 *     keys()         handlers by key name; one that returns false leaves its key to the page
 *     mark(sites)    stores the sites to mark; draw() draws */
vt.Areas = class {
    constructor(page) {
        this.page = page;
        this.marked = new Set();
    }

    /* `element` has the areas. A picture without one has nothing to draw, and ignores events. */
    listen(element) {
        this.element = element;
        element.addEventListener("mousemove", event => this.tip(event));
        element.addEventListener("mouseleave", () => vt.tooltip(null, []));
        element.addEventListener("click", event => {
            const area = this.at(event);
            if (area) this.click(area, event);
        });
        element.addEventListener("keydown", event => {
            const run = event.ctrlKey || event.altKey || event.metaKey ? null : this.keys()[event.key];
            if (!run || run() === false) return;
            event.preventDefault();
            event.stopPropagation();
        });
    }

    tip(event) {
        const area = this.at(event);
        if (area) vt.tipOf(event, ...this.tell(area, event));
        else vt.tooltip(event, []);
    }

    /* Sites were chosen elsewhere. */
    select(selection, changed) {
        if (!this.element || !changed.some(key => ["site", "line", "owner"].includes(key))) return;
        this.mark(vt.markedSites(this.page, selection));
        this.draw();
    }

    resize() {
        if (this.element) this.draw();
    }
};

/* Makes a picture of areas a tab. */
vt.areas = function (id, title, order, Picture) {
    const draw = (panel, page) => new Picture(panel, page);
    vt.part({ id, title, order, tab: true, wanted: page => page.sites.length > 0, draw });
};

/* A part of a whole: "41 %". */
vt.share = function (part, whole) {
    if (!whole || part === null || part === undefined) return "0 %";
    const percent = (100 * part) / whole;
    return percent > 0 && percent < 1
        ? "<1 %"
        : percent > 99 && percent < 100
          ? ">99 %"
          : Math.round(percent) + " %";
};

/* Sets a canvas's size, sharp on any screen, and returns its drawing context, in pixels of the page. */
vt.canvas = function (canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const ink = canvas.getContext("2d");
    ink.scale(scale, scale);
    return ink;
};

/* A tooltip: a title, then [label, text] pairs. `around`: a box that it must not cover. */
vt.tipOf = function (event, title, pairs, around) {
    const lines = pairs.map(([label, text]) =>
        vt.el("span", null, vt.el("span", { class: "dim" }, label + " "), text)
    );
    vt.tooltip(event, [title, ...lines], around && [around]);
};

/* A choice of many, as a list that opens; `choose` gets the row's value. */
vt.picker = function (label, rows, value, choose, attributes) {
    const onchange = () => choose(rows[select.selectedIndex][0]);
    const options = rows.map(([, text]) => vt.el("option", null, text));
    const select = vt.el("select", { ...attributes, onchange }, options);
    select.selectedIndex = Math.max(0, rows.findIndex(row => row[0] === value));
    return vt.el("label", null, label + " ", select);
};

/* A box to tick. */
vt.tick = function (label, value, choose, attributes) {
    const onchange = event => choose(event.target.checked);
    return vt.el("label", null, vt.el("input", { type: "checkbox", checked: value, ...attributes, onchange }), " " + label);
};

/* The sites selected in any picture; empty: none. */
vt.markedSites = function (page, selection) {
    const sites = vt.chosenSites(selection);
    if (sites || !selection.owner) return sites || new Set();
    const snapshot = page.snapshots[selection.owner.snapshot];
    const owner = snapshot && snapshot.owners[selection.owner.owner];
    return new Set(owner ? owner.sites.map(([site]) => site) : []);
};
