/* SPDX-License-Identifier: MIT */
/*
 * The allocating lines: sortable, filterable; each expands to its call sites with their stacks, the program's own
 * frames emphasised. A line selected here is marked in the pictures, and one selected there is expanded here.
 */
"use strict";

(function () {
    const STEP = 200; // rows to add at a time
    const columns = [
        { key: "name", title: "line" },
        { key: "verdict", title: "verdict" },
        { key: "leaked_bytes", title: "leaked", bytes: true },
        { key: "live_bytes", title: "live", bytes: true },
        { key: "bytes_at_peak", title: "at peak", bytes: true },
        { key: "allocated_bytes", title: "allocated", bytes: true },
        { key: "alloc_count", title: "times", number: true },
        { key: "free_count", title: "freed", number: true },
        { key: "where", title: "memory" },
    ];

    /* A line's figures: the sum of its sites. */
    function summary(page, line, index) {
        const sites = line.sites.map(i => page.sites[i]);
        const row = { index: index, name: line.name, sites: sites };
        for (const { key } of columns.filter(column => column.bytes || column.number))
            row[key] = sites.reduce((all, site) => all + site[key], 0);
        row.verdict = sites.map(site => site.verdict).sort((a, b) => vt.verdicts.indexOf(a) - vt.verdicts.indexOf(b))[0];
        row.where = [...new Set(sites.map(site => vt.deviceName(site.device) + (site.segments ? ", segments of a cache" : "")))].join(", ");
        row.segments = sites.every(site => site.segments);
        row.words = [row.name, row.verdict, row.where, ...sites.map(site => [site.site, site.api, site.class_name,
            ...site.stack.map(frame => frame.name + " " + (frame.file || "") + " " + (frame.module || ""))].join(" "))]
            .join(" ").toLowerCase();
        return row;
    }

    function frameItem(frame) {
        return vt.el("li", { class: (frame.py ? "py" : "native") + (frame.own ? " own" : "") },
            vt.el("span", { class: "function" }, frame.name), vt.el("span", { class: "place" }, frame.where),
            frame.waiting ? vt.el("span", { class: "dim" }, " (waits)") : null);
    }

    /* A call site: its numbers, and its stack. */
    function siteBlock(site) {
        const life = site.first_at_ns == null ? null : vt.duration(site.first_at_ns) + " to " + vt.duration(site.last_at_ns);
        const owners = site.owners.slice(0, 8).map(owner => vt.bytes(owner.bytes) + " by " + owner.name +
            (owner.may_be_unused ? ", in slots that may no longer be in use" : "") + " (" + vt.plural(owner.count, "block") + ")").join("; ");
        const facts = [["live", vt.bytes(site.live_bytes) + " in " + vt.plural(site.live_count, "block")], ["its peak", vt.bytes(site.peak_bytes)],
            ["allocated", vt.bytes(site.allocated_bytes) + " in " + vt.plural(site.alloc_count, "block") + "; " + vt.count(site.free_count) + " freed"],
            ["allocated from", life], ["held by", owners || null], ["of", site.class_name]];
        return vt.el("div", { class: "site", id: "site-" + site.index },
            vt.el("h4", null, vt.el("code", null, site.site.slice(0, Math.max(4, vt.data.id_digits))), " ", site.api || "", " ",
                vt.el("span", { class: "verdict " + site.verdict }, site.verdict)),
            vt.el("p", null, site.why),
            vt.el("dl", null, vt.terms(facts)),
            vt.el("ol", { class: "stack" }, site.stack.map(frameItem)),
            site.stack_cut ? vt.aside("outermost frames are missing") : null);
    }

    vt.part({
        id: "table", title: "Lines", order: 10, tab: true,
        wanted: page => page.sites.length > 0,
        draw: function (panel, page) {
            const rows = page.lines.map((line, i) => summary(page, line, i));
            const state = { key: "bytes_at_peak", down: true, text: "", shown: STEP, open: new Set(), segments: false };
            if (rows.some(row => row.leaked_bytes))
                state.key = "leaked_bytes";
            const search = vt.el("input", {
                type: "search", placeholder: "filter: function, file, verdict, id …", "aria-label": "filter lines",
                oninput: () => { state.text = search.value.toLowerCase(); state.shown = STEP; fill(); }
            });
            const counted = vt.el("span", { class: "dim", "aria-live": "polite" });
            const headers = vt.el("tr", null, columns.map(column => vt.el("th", {
                scope: "col", class: column.bytes || column.number ? "number" : null, "data-key": column.key
            }, vt.button(column.title, () => sort(column)))));
            const body = vt.el("tbody"), foot = vt.el("tfoot");
            const more = vt.button("more rows", () => { state.shown += STEP; fill(); });
            /* A cache's driver memory contains the blocks of other rows: both together would count twice. */
            const segments = vt.tick("segments of caches", false, function (on) {
                state.segments = on;
                fill();
            }, { class: "table-segments" });
            segments.hidden = !rows.some(row => row.segments);
            panel.append(vt.el("div", { class: "tools" }, search, segments, counted),
                vt.el("div", { class: "scroll" }, vt.el("table", { class: "lines" }, vt.el("thead", null, headers), body, foot)), more);

            function sort(column) {
                state.down = state.key === column.key ? !state.down : !!(column.bytes || column.number);
                state.key = column.key;
                fill();
            }

            function compare(a, b) {
                const x = a[state.key], y = b[state.key];
                const order = state.key === "verdict" ? vt.verdicts.indexOf(x) - vt.verdicts.indexOf(y)
                    : typeof x === "number" ? x - y : x.localeCompare(y);
                return (state.down ? -order : order) || b.bytes_at_peak - a.bytes_at_peak || a.index - b.index;
            }

            function toggle(index, open) {
                if (open === undefined ? state.open.has(index) : !open)
                    state.open.delete(index);
                else
                    state.open.add(index);
            }

            function cells(row, top) {
                const chosen = vt.selection.line === row.index, opened = state.open.has(row.index);
                const bar = value => top ? (value / top * 100).toFixed(1) : 0;
                return vt.el("tr", { class: "line" + (chosen ? " chosen" : ""), "data-line": row.index, onclick: () => choose(row) },
                    columns.map(column => column.key === "name"
                        ? vt.el("th", { scope: "row", class: "name" }, vt.el("button", {
                            type: "button", class: "expand", "aria-expanded": String(opened), "aria-label": "call sites of " + row.name,
                        }, opened ? "▾" : "▸"), vt.el("span", { title: row.name }, vt.shortPath(row.name)),
                            row.sites.length > 1 ? vt.el("span", { class: "dim" }, "  " + row.sites.length + " sites") : null)
                        : column.key === "verdict" ? vt.el("td", null, vt.el("span", { class: "verdict " + row.verdict }, row.verdict))
                            : column.bytes ? vt.el("td", {
                                class: "number" + (row[column.key] ? "" : " dim"),
                                style: column.key === state.key ? "--bar: " + bar(row[column.key]) + "%" : null
                            }, vt.bytes(row[column.key]))
                                : column.number ? vt.el("td", { class: "number" }, vt.count(row[column.key]))
                                    : vt.el("td", { class: "name" }, row[column.key])));
            }

            function choose(row) {
                const again = vt.selection.line === row.index && vt.selection.site == null;
                toggle(row.index);
                vt.select({ line: again && !state.open.has(row.index) ? null : row.index });
                fill();
                const button = body.querySelector("[data-line='" + row.index + "'] button");
                if (button)
                    button.focus();
            }

            function fill() {
                const words = state.text.split(/\s+/).filter(Boolean);
                const found = rows.filter(row => (state.segments || !row.segments || vt.selection.line === row.index) && words.every(word => row.words.includes(word))).sort(compare);
                const top = Math.max(...found.map(row => typeof row[state.key] === "number" ? row[state.key] : 0), 1);
                for (const header of headers.children)
                    header.setAttribute("aria-sort", header.dataset.key !== state.key ? "none" : state.down ? "descending" : "ascending");
                body.replaceChildren(...found.slice(0, state.shown).map(row => [cells(row, top), state.open.has(row.index)
                    ? vt.el("tr", { class: "detail" }, vt.el("td", { colspan: columns.length }, row.sites.slice(0, 20).map(siteBlock),
                        row.sites.length > 20 ? vt.aside("and " + (row.sites.length - 20) + " more call sites") : null))
                    : null]).flat().filter(Boolean));
                foot.replaceChildren(...page.sites_left_out.map(left => vt.el("tr", null,
                    vt.el("th", { scope: "row", class: "name" }, vt.plural(left.sites, "more call site") + " (" + left.layer + ")"),
                    columns.slice(1).map(column => vt.el("td", { class: "number" }, left[column.key] == null ? ""
                        : column.bytes ? vt.bytes(left[column.key]) : vt.count(left[column.key]))))));
                more.hidden = found.length <= state.shown;
                counted.textContent = vt.plural(found.length, "line") + (found.length < rows.length ? " of " + vt.count(rows.length) : "");
            }

            fill();
            return {
                select: function (selection, change) {
                    if (!change.includes("line") && !change.includes("site"))
                        return;
                    if (selection.line != null && selection.site != null)
                        toggle(selection.line, true);
                    if (selection.line != null && state.text && !body.querySelector("[data-line='" + selection.line + "']")) {
                        search.value = "";
                        state.text = "";
                    }
                    fill();
                    const row = selection.line != null && body.querySelector("[data-line='" + selection.line + "']");
                    if (row && !panel.contains(document.activeElement))
                        row.scrollIntoView({ block: "nearest" });
                },
            };
        },
    });
}());
