/* SPDX-License-Identifier: MIT */
/*
 * A device's memory by address at a chosen moment: segments, blocks, holes.
 */
"use strict";

vt.part({
    id: "addresses", title: "Addresses", order: 13, tab: true,
    wanted: page => page.maps.length > 0,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Addresses: " + page.title));
    },
});
