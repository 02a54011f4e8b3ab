/* SPDX-License-Identifier: MIT */
/*
 * The answer in words: the sentences of the text report, each leak with what keeps it.
 */
"use strict";

vt.part({
    id: "words", title: "The answer", order: 1, tab: false,
    wanted: page => true,
    draw: function (panel, page) {
        panel.append(vt.el("p", { class: "dim" }, "The answer: " + page.title));
    },
});
