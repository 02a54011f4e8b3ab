/* SPDX-License-Identifier: MIT */
/*
 * Several processes side by side for one site (--site; else job.js): its bytes in each at the peak and at the end,
 * and leaked. A click shows that process below. Also the choice in the page's head.
 */
"use strict";

(function () {
    const sum = (list, key) => list.reduce((all, item) => all + item[key], 0);

    function figures(page) {
        return {
            peak: sum(page.devices, "peak_bytes") + page.pinned_host.peak_bytes + page.managed.peak_bytes,
            live: sum(page.devices, "live_bytes") + page.pinned_host.live_bytes + page.managed.live_bytes,
            leaked: page.leaked_bytes,
        };
    }

    const label = page => (page.rank != null ? "rank " + page.rank + ", " : "") + "pid " + page.pid +
        (page.host ? " on " + page.host : "");

    vt.processPicker = function (data, show) {
        if (data.processes.length < 2)
            return null;
        const pick = vt.el("select", { id: "process", "aria-label": "process", onchange: event => show(+event.target.value) },
            data.processes.map((page, i) => vt.el("option", { value: i, selected: i === vt.index }, label(page))));
        return pick;
    };

    vt.showProcess = null;

    /* Keys that switch to the next process, if there are several. */
    vt.processKeys = function () {
        const step = by => vt.showProcess((vt.index + by + vt.data.processes.length) % vt.data.processes.length);
        if (vt.data.processes.length < 2)
            return;
        vt.key("n", "the next process", () => step(1));
        vt.key("p", "the previous process", () => step(-1));
    };

    /* A cell with bytes, and a bar of their share of `scale`. */
    vt.barCell = (bytes, scale, colour) => vt.el("td", { class: "bar" },
        vt.el("i", { style: "width: " + (bytes / scale * 100).toFixed(2) + "%; background: var(--" + colour + ")" }),
        vt.el("span", null, vt.bytes(bytes)));

    vt.part({
        id: "ranks", title: "Processes", order: 0, tab: false,
        wanted: () => vt.data.processes.length > 1 && vt.data.ranks == null,
        draw: function (panel) {
            const all = vt.data.processes.map(figures);
            /* one common scale, so that leaks can be compared with peaks */
            const scale = Math.max(1, ...all.map(of => Math.max(of.peak, of.live, of.leaked)));
            const rows = vt.data.processes.map((page, i) => vt.el("tr", { class: i === vt.index ? "chosen" : null },
                vt.el("th", { scope: "row" }, vt.link(label(page), () => vt.showProcess(i), { title: page.title })),
                vt.barCell(all[i].peak, scale, "line-0"), vt.barCell(all[i].live, scale, "line-4"),
                vt.barCell(all[i].leaked, scale, "leak"),
                vt.el("td", { class: "name" }, page.ended)));
            panel.append(vt.el("div", { class: "scroll" }, vt.el("table", { class: "ranks" },
                vt.el("thead", null, vt.el("tr", null, ["process", "peak", "live at the end", "leaks", "ran"]
                    .map(name => vt.el("th", { scope: "col" }, name)))),
                vt.el("tbody", null, rows))));
            vt.processKeys();
            const shown = panel.querySelector(".chosen"), box = panel.firstChild;
            if (shown.offsetTop > box.clientHeight)
                box.scrollTop = shown.offsetTop - box.clientHeight / 2;
            if (vt.data.processes_left_out)
                panel.append(vt.aside("and " + vt.count(vt.data.processes_left_out) + " more with smaller peaks"));
            if (vt.data.empty)
                panel.append(vt.aside(vt.plural(vt.data.empty, "more process", "more processes") + " allocated nothing."));
        },
    });
}());
