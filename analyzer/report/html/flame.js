/* SPDX-License-Identifier: MIT */
/*
 * The flame graph of call stacks: live, peak, allocated or leaked bytes.
 */
"use strict";

vt.part({
    id: "flame", title: "Flame graph", order: 11, tab: true,
    wanted: page => page.sites.length > 0,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Flame graph: " + page.title));
    },
});
