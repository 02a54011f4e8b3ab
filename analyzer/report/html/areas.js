/* SPDX-License-Identifier: MIT */
/*
 * What the pictures of areas share (flame graph, owners, addresses): shares as text, canvases, tooltips of several
 * values, controls, and what the reader chose as sites.
 */
"use strict";

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

/* Gives a canvas its size, sharp on any screen, and returns what draws on it, in pixels of the page. */
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

/* A tooltip: a title, then [label, text] pairs. No title: it goes. `around`: a box that it must not cover. */
vt.tipOf = function (event, title, pairs, around) {
    const lines = (pairs || []).map(([label, text]) =>
        vt.el("span", null, vt.el("span", { class: "dim" }, label + " "), text)
    );
    vt.tooltip(event, title ? [title, ...lines] : [], around && [around]);
};

/* A choice of many, as a list that opens; `choose` gets the row's value. */
vt.picker = function (label, rows, value, choose, attributes) {
    const select = vt.el(
        "select",
        attributes,
        rows.map(([, text]) => vt.el("option", null, text))
    );
    select.selectedIndex = Math.max(
        0,
        rows.findIndex(row => row[0] === value)
    );
    select.addEventListener("change", () => choose(rows[select.selectedIndex][0]));
    return vt.el("label", null, label + " ", select);
};

/* A box to tick. */
vt.tick = function (label, value, choose, attributes) {
    const box = vt.el("input", Object.assign({ type: "checkbox", checked: value }, attributes));
    box.addEventListener("change", () => choose(box.checked));
    return vt.el("label", null, box, " " + label);
};

/* "/home/me/train.py:41 in step" without its folders. */
vt.shortName = name => name.replace(/^[^ ]*\/(?=[^ /]+)/, "");

/* A name that chooses a site or a line where it is clicked. */
vt.link = (text, choice, name) =>
    vt.el(
        "button",
        { type: "button", class: name ? "link " + name : "link", onclick: () => vt.select(choice) },
        text
    );

/* The sites that the reader chose, in whatever picture; empty: none. */
vt.markedSites = function (page, selection) {
    const sites = vt.chosenSites(selection);
    if (sites || !selection.owner) return sites || new Set();
    const snapshot = page.snapshots[selection.owner.snapshot];
    const owner = snapshot && snapshot.owners[selection.owner.owner];
    return new Set(owner ? owner.sites.map(([site]) => site) : []);
};

/* The line of code that all these sites are of, or null. */
vt.commonLine = function (page, sites) {
    const line = sites.length ? page.sites[sites[0]].line : null;
    return line !== null && sites.every(site => page.sites[site].line === line) ? line : null;
};
