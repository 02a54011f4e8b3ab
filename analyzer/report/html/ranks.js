/* SPDX-License-Identifier: MIT */
/*
 * Several processes side by side.
 */
"use strict";

vt.part({
    id: "ranks", title: "Processes", order: 0, tab: false,
    wanted: page => vt.data && vt.data.pages.length > 1,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Processes: " + page.title));
    },
});
