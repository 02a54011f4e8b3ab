/* SPDX-License-Identifier: MIT */
/*
 * Several processes side by side that have one site (--site; else fleet.js): what each held at its peak, holds at the end, and leaks. A click shows that
 * process below. Also the choice in the page's head.
 */
"use strict";

(function () {
    const sum = (list, key) => list.reduce((all, item) => all + item[key], 0);

    function figures(page) {
        return {
            peak: sum(page.devices, "peak") + page.pinned.peak + page.managed.peak,
            live: sum(page.devices, "live") + page.pinned.live + page.managed.live,
            leaked: page.leaked,
        };
    }

    const label = page => (page.rank != null ? "rank " + page.rank + ", " : "") + "pid " + page.pid +
        (page.host ? " on " + page.host : "");

    vt.processPicker = function (data, show) {
        if (data.pages.length < 2)
            return null;
        const pick = vt.el("select", { id: "process", "aria-label": "process", onchange: event => show(+event.target.value) },
            data.pages.map((page, i) => vt.el("option", { value: i, selected: i === vt.index }, label(page))));
        return pick;
    };

    vt.showProcess = null;

    const step = by => vt.showProcess((vt.index + by + vt.data.pages.length) % vt.data.pages.length);

    vt.part({
        id: "ranks", title: "Processes", order: 0, tab: false,
        wanted: () => vt.data.pages.length > 1 && vt.data.ranks == null,
        draw: function (panel) {
            const all = vt.data.pages.map(figures);
            const most = { peak: 1, live: 1, leaked: 1 };
            all.forEach(of => Object.keys(most).forEach(key => { most[key] = Math.max(most[key], of[key]); }));
            /* of one scale, so that leaks can be held against peaks */
            const scale = Math.max(most.peak, most.live, most.leaked);
            const cell = (bytes, colour) => vt.el("td", { class: "bar" },
                vt.el("i", { style: "width: " + (bytes / scale * 100).toFixed(2) + "%; background: var(--" + colour + ")" }),
                vt.el("span", null, vt.bytes(bytes)));
            const rows = vt.data.pages.map((page, i) => vt.el("tr", { class: i === vt.index ? "chosen" : null },
                vt.el("th", { scope: "row" }, vt.el("button", {
                    type: "button", class: "link", onclick: () => vt.showProcess(i), title: page.title
                }, label(page))),
                cell(all[i].peak, "line-0"), cell(all[i].live, "line-4"), cell(all[i].leaked, "leak"),
                vt.el("td", { class: "name" }, page.exit)));
            panel.append(vt.el("div", { class: "scroll" }, vt.el("table", { class: "ranks" },
                vt.el("thead", null, vt.el("tr", null, ["process", "peak", "live at the end", "leaks", "ran"]
                    .map(name => vt.el("th", { scope: "col" }, name)))),
                vt.el("tbody", null, rows))));
            vt.key("n", "the next process", () => step(1));
            vt.key("p", "the process before", () => step(-1));
            const shown = panel.querySelector(".chosen"), box = panel.firstChild;
            if (shown.offsetTop > box.clientHeight)
                box.scrollTop = shown.offsetTop - box.clientHeight / 2;
            if (vt.data.pages_left_out)
                panel.append(vt.el("p", { class: "dim" }, "and " + vt.count(vt.data.pages_left_out) + " more with smaller peaks"));
            if (vt.data.empty)
                panel.append(vt.el("p", { class: "dim" }, vt.plural(vt.data.empty, "more process", "more processes") +
                    " allocated nothing."));
        },
    });
}());
