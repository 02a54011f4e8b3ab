/* SPDX-License-Identifier: MIT */
/*
 * Who holds the memory: a tree map of a snapshot's owners.
 */
"use strict";

vt.part({
    id: "owners", title: "Owners", order: 12, tab: true,
    wanted: page => page.snapshots.length > 0,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Owners: " + page.title));
    },
});
