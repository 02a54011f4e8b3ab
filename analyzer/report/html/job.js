/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job: which of them differ and in what, what leaked in all of them, and a table that sorts, in which each has
 * its memory on the common clock. A click shows a rank below, if its page is there.
 */
"use strict";

(function () {
    const WIDTH = 160, HEIGHT = 22;
    let order = { key: null, down: true };

    const name = row => (row.rank != null ? "rank " + row.rank : "pid " + row.pid) + (row.restart ? ", start " + (row.restart + 1) : "");

    /* The pages by the process that they show. */
    const pageOf = process => vt.data.processes.findIndex(page => page.process === process);

    function picture(course, scale, title) {
        const step = WIDTH / course.length;
        const points = course.map((value, i) => (i * step).toFixed(1) + "," + (HEIGHT - value / 1000 * (HEIGHT - 1)).toFixed(1) +
            " " + ((i + 1) * step).toFixed(1) + "," + (HEIGHT - value / 1000 * (HEIGHT - 1)).toFixed(1)).join(" ");
        const svg = d3.create("svg").node();
        const area = d3.create("svg:polygon").node();
        svg.setAttribute("viewBox", "0 0 " + WIDTH + " " + HEIGHT);
        svg.setAttribute("preserveAspectRatio", "none");
        svg.setAttribute("class", "course");
        svg.setAttribute("role", "img");
        svg.setAttribute("aria-label", title);
        area.setAttribute("points", "0," + HEIGHT + " " + points + " " + WIDTH + "," + HEIGHT);
        svg.append(area);
        svg.addEventListener("pointermove", function (event) {
            const box = svg.getBoundingClientRect();
            const part = Math.min(course.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * course.length)));
            vt.tooltip(event, [title, vt.bytes(course[part] / 1000 * scale) + " at most", "from " +
                vt.duration(vt.data.ranks.duration / course.length * part) + " of the job"]);
        });
        svg.addEventListener("pointerleave", event => vt.tooltip(event, null));
        return svg;
    }

    function link(process, text) {
        const page = pageOf(process);
        return page < 0 ? text : vt.link(text, () => vt.showProcess(page));
    }

    function outlier(one) {
        const page = pageOf(one.process);
        return vt.el("article", { class: "card bad" }, vt.el("h3", null, one.why),
            vt.el("dl", null, vt.terms(one.rows)),
            page < 0 || page === vt.index ? null : vt.el("p", { class: "links" }, "show ",
                vt.button("its page", () => vt.showProcess(page))));
    }

    const columns = ranks => [
        ["rank", ranks.noun, row => row.rank != null ? row.rank : row.pid],
        ranks.hosts > 1 ? ["host", "host", row => row.host] : null,
        ["gpu", "GPU", row => row.gpu],
        ["course", "over time", null],
        ["peak", "peak", row => row.peak],
        ["live", "live at the end", row => row.live],
        ["leaked", "leaks", row => row.leaked],
        ["end", "end", row => row.end],
        ranks.rows.some(row => row.command) ? ["command", "command", row => row.command || ""] : null,
    ].filter(Boolean);

    function sorted(ranks) {
        const column = columns(ranks).find(([key]) => key === order.key);
        if (!column || !column[2])
            return ranks.rows;
        const sign = order.down ? -1 : 1;
        return ranks.rows.slice().sort((a, b) => {
            const x = column[2](a), y = column[2](b);
            return x < y ? -sign : x > y ? sign : 0;
        });
    }

    function table(ranks) {
        const scale = Math.max(1, ...ranks.rows.map(row => Math.max(row.peak, row.live, row.leaked)));
        const cells = {
            rank: row => vt.el("th", { scope: "row" }, link(row.process, name(row))),
            host: row => vt.el("td", { class: "name" }, row.host || ""),
            gpu: row => vt.el("td", { class: "name" }, row.gpu),
            course: row => vt.el("td", null, picture(row.course, ranks.scale, name(row))),
            peak: row => vt.barCell(row.peak, scale, "line-0"),
            live: row => vt.barCell(row.live, scale, "line-4"),
            leaked: row => vt.barCell(row.leaked, scale, "leak"),
            end: row => vt.el("td", { class: "name" }, row.end),
            command: row => vt.el("td", { class: "name", title: row.command }, row.command || ""),
        };
        const shown = vt.data.processes.length ? vt.data.processes[vt.index].process : null; // a merged file has no pages
        const box = vt.el("div", { class: "scroll" });
        const draw = function () {
            const list = columns(ranks);
            box.replaceChildren(vt.el("table", { class: "ranks sorts" },
                vt.el("thead", null, vt.el("tr", null, list.map(([key, title, value]) => vt.el("th", {
                    scope: "col", "aria-sort": order.key === key ? (order.down ? "descending" : "ascending") : null
                }, value ? vt.link(title, () => {
                    order = { key: key, down: order.key === key ? !order.down : ["peak", "live", "leaked"].includes(key) };
                    draw();
                }) : title)))),
                vt.el("tbody", null, sorted(ranks).map(row => vt.el("tr", {
                    class: row.process === shown ? "chosen" : row.differs ? "differs" : null
                }, list.map(([key]) => cells[key](row)))))));
        };
        draw();
        return box;
    }

    /* Lines with their bytes, and what is said of each. */
    const sums = (list, words) => vt.el("ul", { class: "plain" }, list.map(sum => vt.el("li", null, vt.el("b", null, vt.bytes(sum.bytes)),
        "  " + words(sum))));

    vt.part({
        id: "job", title: "Ranks", order: 0, tab: false,
        wanted: () => vt.data.ranks != null,
        draw: function (panel) {
            const ranks = vt.data.ranks;
            panel.append(vt.el("p", null, vt.el("b", null, ranks.many), ", ran " + vt.duration(ranks.duration) + ": " + ranks.ended),
                ...ranks.notes.map(([, text]) => vt.aside(text)));
            if (ranks.outliers.length)
                panel.append(vt.el("div", { class: "cards" }, ranks.outliers.map(outlier)));
            if (ranks.outliers_left_out)
                panel.append(vt.aside("and " + vt.count(ranks.outliers_left_out) + " more that differ"));
            if (ranks.leaks.length)
                panel.append(sums(ranks.leaks, leak => leak.at + ", " + leak.verdict + ", " + leak.many));
            if (ranks.ooms.length)
                panel.append(vt.el("p", null, vt.el("b", null, "out of memory"), " " + ranks.ooms_headline),
                    sums(ranks.ooms, oom => oom.at + ", " + oom.which));
            if (ranks.ooms_left_out)
                panel.append(vt.aside("and " + vt.count(ranks.ooms_left_out) + " more lines"));
            if (ranks.highest)
                panel.append(vt.el("div", { class: "job" }, vt.el("span", null, "all together, " + vt.bytes(ranks.highest) + " at most"),
                    picture(ranks.sum, ranks.highest, "all together")));
            panel.append(table(ranks));
            if (ranks.rows_left_out)
                panel.append(vt.aside("and " + vt.count(ranks.rows_left_out) + " more"));
            if (ranks.empty)
                panel.append(vt.aside(vt.plural(ranks.empty, "more process", "more processes") + " allocated nothing."));
            vt.processKeys();
        },
    });
}());
