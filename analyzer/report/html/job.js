/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job: the outliers and how they differ, the leaks of all ranks, and a sortable table with the memory
 * of each on the common clock. A click shows a rank below, if its page is there.
 */
"use strict";

(function () {
    const WIDTH = 160, HEIGHT = 22;
    let order = { key: null, down: true };

    const name = row => (row.rank != null ? "rank " + row.rank : "pid " + row.pid) + (row.restart ? ", start " + (row.restart + 1) : "");

    /* The index of the page of a process. */
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
                vt.duration(vt.data.ranks.duration_ns / course.length * part) + " of the job"]);
        });
        svg.addEventListener("pointerleave", event => vt.tooltip(event, null));
        return svg;
    }

    function link(process, text) {
        const page = pageOf(process);
        return page < 0 ? text : vt.link(text, () => vt.showProcess(page));
    }

    function outlier(rows, i) {
        const one = vt.data.ranks.outliers[i], page = pageOf(one.processes[0]);
        return vt.el("article", { class: "card bad" }, vt.el("h3", null, one.why),
            vt.el("dl", null, vt.terms(rows)),
            page < 0 || page === vt.index ? null : vt.el("p", { class: "links" }, "show ",
                vt.button("its page", () => vt.showProcess(page))));
    }

    const hostOf = row => (vt.data.ranks.hosts[row.host] || { host: null }).host || "";

    const columns = (job, rows) => [
        ["rank", job.noun, row => row.rank != null ? row.rank : row.pid],
        new Set(rows.map(row => row.host)).size > 1 ? ["host", "host", hostOf] : null,
        ["gpu", "GPU", row => row.gpu],
        ["course", "over time", null],
        ["peak_bytes", "peak", row => row.peak_bytes],
        ["live_bytes", "live at the end", row => row.live_bytes],
        ["leaked_bytes", "leaks", row => row.leaked_bytes],
        ["end", "end", row => row.end],
        job.commands ? ["command", "command", row => row.command || ""] : null,
    ].filter(Boolean);

    function sorted(rows, list) {
        const column = list.find(([key]) => key === order.key);
        if (!column || !column[2])
            return rows;
        const sign = order.down ? -1 : 1;
        return rows.slice().sort((a, b) => {
            const x = column[2](a), y = column[2](b);
            return x < y ? -sign : x > y ? sign : 0;
        });
    }

    function table(job) {
        const rows = job.listed.map(one => ({ ...vt.data.ranks.rows[one.process], ...one }));
        const scale = Math.max(1, ...rows.map(row => Math.max(row.peak_bytes, row.live_bytes, row.leaked_bytes)));
        const cells = {
            rank: row => vt.el("th", { scope: "row" }, link(row.process, name(row))),
            host: row => vt.el("td", { class: "name" }, hostOf(row)),
            gpu: row => vt.el("td", { class: "name" }, row.gpu),
            course: row => vt.el("td", null, picture(row.course, job.scale, name(row))),
            peak_bytes: row => vt.barCell(row.peak_bytes, scale, "line-0"),
            live_bytes: row => vt.barCell(row.live_bytes, scale, "line-4"),
            leaked_bytes: row => vt.barCell(row.leaked_bytes, scale, "leak"),
            end: row => vt.el("td", { class: "name" }, row.end),
            command: row => vt.el("td", { class: "name", title: row.command }, row.command || ""),
        };
        const shown = vt.data.processes.length ? vt.data.processes[vt.index].process : null; // a merged file has no pages
        const box = vt.el("div", { class: "scroll" });
        const draw = function () {
            const list = columns(job, rows);
            box.replaceChildren(vt.el("table", { class: "ranks sorts" },
                vt.el("thead", null, vt.el("tr", null, list.map(([key, title, value]) => vt.el("th", {
                    scope: "col", "aria-sort": order.key === key ? (order.down ? "descending" : "ascending") : null
                }, value ? vt.link(title, () => {
                    order = { key: key, down: order.key === key ? !order.down : key.endsWith("_bytes") };
                    draw();
                }) : title)))),
                vt.el("tbody", null, sorted(rows, list).map(row => vt.el("tr", {
                    class: row.process === shown ? "chosen" : row.differs ? "differs" : null
                }, list.map(([key]) => cells[key](row)))))));
        };
        draw();
        return box;
    }

    /* The list of sums: bytes and text of each. */
    const sums = (words, text) => vt.el("ul", { class: "plain" }, words.map(([line, which], i) => {
        const [bytes, verdict] = text(i);
        return vt.el("li", null, vt.el("b", null, vt.bytes(bytes)), "  " + [line, verdict, which].filter(Boolean).join(", "));
    }));

    vt.part({
        id: "job", title: "Ranks", order: 0, tab: false,
        wanted: () => vt.data.ranks != null,
        draw: function (panel) {
            const { ranks, job } = vt.data, left = list => vt.count(ranks[list].length - job[list].length);
            panel.append(vt.el("p", null, vt.el("b", null, job.many), ", ran " + vt.duration(ranks.duration_ns) + ": " + job.ended),
                ...job.notes.map(([, text]) => vt.aside(text)));
            if (job.outliers.length)
                panel.append(vt.el("div", { class: "cards" }, job.outliers.map(outlier)));
            if (ranks.outliers.length > job.outliers.length)
                panel.append(vt.aside("and " + left("outliers") + " more that differ"));
            if (job.leaks.length)
                panel.append(sums(job.leaks, i => [ranks.leaks[i].bytes, ranks.leaks[i].verdict]));
            if (job.ooms.length)
                panel.append(vt.el("p", null, vt.el("b", null, "out of memory"), " " + job.ooms_headline),
                    sums(job.ooms, i => [ranks.ooms[i].most_requested_bytes]));
            if (ranks.ooms.length > job.ooms.length)
                panel.append(vt.aside("and " + left("ooms") + " more lines"));
            if (ranks.at_once_bytes)
                panel.append(vt.el("div", { class: "job" }, vt.el("span", null, "all together, " + vt.bytes(ranks.at_once_bytes) + " at most"),
                    picture(job.sum, ranks.at_once_bytes, "all together")));
            panel.append(table(job));
            if (job.left_out)
                panel.append(vt.aside("and " + vt.count(job.left_out) + " more"));
            if (ranks.helpers)
                panel.append(vt.aside(vt.plural(ranks.helpers, "more process", "more processes") + " allocated nothing."));
            vt.processKeys();
        },
    });
}());
