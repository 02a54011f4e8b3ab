/* SPDX-License-Identifier: MIT */
/*
 * The lines that allocate: sortable, filterable, each expands to its stacks.
 */
"use strict";

vt.part({
    id: "table", title: "Lines", order: 10, tab: true,
    wanted: page => page.sites.length > 0,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Lines: " + page.title));
    },
});
