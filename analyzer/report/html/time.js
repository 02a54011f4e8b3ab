/* SPDX-License-Identifier: MIT */
/*
 * Memory over time: a chart for each device, all with one time axis. Bands are stacked by class, by line, or (as
 * columns at the snapshots, since nothing is known between them) by purpose. Below are the program's phases, above
 * them failed allocations, alarms, snapshots and marks. Dragging selects a part of the run, and a table shows the
 * memory held in it.
 */
"use strict";

(function () {
    const LEFT = 78, RIGHT = 14, TOP = 36, BOTTOM = 20, PHASE = 16, PHASE_ROWS = 6;
    /* Bands that are not lines have the text report's letters as marks. */
    const letters = { leak: "L", line: "#", rest: "#", runtime: "r", idle: "c" };

    /* --- the bands: {name, colour, mark, values, sites} from the bottom up --- */

    function byLine(course) {
        const twin = band => band.leak && course.bands.some(other => other.name === band.name && !other.leak);
        const layer = band => ({ name: band.name + (twin(band) ? ", leaked" : ""), colour: "var(--" + (band.line ? band.line.colour : band.kind) + ")", mark: band.line ? band.line.mark : letters[band.kind],
            values: band.bytes, sites: band.sites, kind: band.kind });
        const rank = band => band.kind === "idle" ? 4 : band.kind === "runtime" ? 3 : band.leak ? 0 : band.kind === "line" ? 1 : 2;
        return course.bands.slice().sort((a, b) => rank(a) - rank(b)).map(layer);
    }

    function byClass(course) {
        const classes = [["leaks", "leak", "L", band => band.leak], ["in use", "line-0", "#", band => !band.leak && /^(line|rest)$/.test(band.kind)],
            ["CUDA libraries", "runtime", "r", band => band.kind === "runtime"], ["cache, not in use", "idle", "c", band => band.kind === "idle"]];
        return classes.map(function ([name, colour, mark, belongs]) {
            const bands = course.bands.filter(belongs);
            const values = course.at.map((at, i) => bands.reduce((sum, band) => sum + band.bytes[i], 0));
            return { name: name, colour: "var(--" + colour + ")", mark: mark, values: values, sites: bands.map(band => band.sites).flat() };
        }).filter(layer => layer.values.some(value => value));
    }

    /* Columns: [{at, parts: [{name, colour, bytes}]}]. */
    function byRole(page, course) {
        return page.snapshots.map(function (snapshot) {
            const known = snapshot.used_for.find(of => of.device === course.device);
            return known ? {
                at: snapshot.at_ns, moment: snapshot.moment,
                parts: vt.roles.filter(role => known[role]).map(role => ({ name: role, colour: "var(--" + role + ")", bytes: known[role] })),
            } : null;
        }).filter(Boolean);
    }

    /* The device of a course; it may be unknown. */
    const deviceOf = (page, course) => page.devices.find(other => other.device === course.device) || { total_bytes: null };

    /* Pixels of a device's chart: several charts are lower. */
    const heightOf = page => page.courses.length > 2 ? 120 : 230;

    /* The last of `at` that is not after `time`. */
    const slot = (course, time) => Math.max(0, d3.bisectRight(course.at, time) - 1);

    /* The slots to draw: those in view; among slots that share a pixel, the one with the most live memory. */
    function visible(course, x) {
        const [begin, end] = x.domain(), first = slot(course, begin), last = slot(course, end);
        const chosen = [];
        for (let i = first, pixel = null; i <= last; i++) {
            const here = Math.floor(x(course.at[i]));
            if (here === pixel && last - first > 1500) {
                if (course.live[i] > course.live[chosen[chosen.length - 1]])
                    chosen[chosen.length - 1] = i;
            } else {
                chosen.push(i);
                pixel = here;
            }
        }
        return chosen;
    }

    /* --- phases: nested ones in rows, each thread's below the last's --- */

    function phaseRows(page) {
        const threads = d3.nest().key(phase => phase.thread).entries(page.phases.filter(phase => !phase.mark));
        const rowOf = new Map();
        let rows = 0;
        for (const { values } of threads) {
            let open = [], depth = 0;
            for (const phase of values) {
                open = [...open.filter(other => other.end_ns == null || other.end_ns > phase.start_ns), phase];
                depth = Math.max(depth, open.length);
                rowOf.set(phase, rows + open.length - 1);
            }
            rows += depth;
        }
        const placed = page.phases.filter(phase => rowOf.get(phase) < PHASE_ROWS).map(phase => ({ phase: phase, row: rowOf.get(phase) }));
        return { placed: placed, rows: Math.min(rows, PHASE_ROWS), more: rows - PHASE_ROWS };
    }

    function timeText(ns, span) {
        return span < 2e6 ? (ns / 1e6).toFixed(4) + " ms" : span < 1e9 ? (ns / 1e9).toFixed(4).replace(/0$/, "") + " s"
            : ns < 600e9 && span < 60e9 ? (ns / 1e9).toFixed(span < 20e9 ? 2 : 1) + " s" : vt.duration(ns);
    }

    /* A power of two, for round ticks. */
    function byteTicks(top) {
        const step = Math.max(1, Math.pow(2, Math.ceil(Math.log2(top / 5))));
        return d3.range(0, top, step);
    }

    /* The initial start: a long start-up before the first use of the GPU is hidden. */
    function firstUse(page, begin, end) {
        const first = Math.min(...page.courses.map(course => course.at[Math.max(0, course.live.findIndex(bytes => bytes))]));
        return first - begin > (end - begin) / 4 ? Math.max(begin, first - (end - first) / 20) : begin;
    }

    /* Below, `t` is the picture: the page, its part of the run (begin, end), rows of phases, the user's choices
     * (state: mode, view, whole), elements (svg, charts, legend, held, toRange), the scale of time (x) as last drawn,
     * whether it will be drawn in the next frame (pending), the phases' names in the order of their colours, and the
     * signs drawn (kind: [sign, meaning]). */

    /* --- the time axis --- */

    function setView(t, [from, to]) {
        const { begin, end, state } = t;
        const least = Math.max((end - begin) / 1e6, 10);
        let width = Math.min(Math.max(to - from, least), end - begin), start = from + (to - from - width) / 2;
        start = Math.min(Math.max(start, begin), end - width);
        state.view = [start, start + width];
        later(t);
    }

    function zoom(t, factor, around) {
        const { state } = t;
        const [from, to] = state.view, at = around == null ? (from + to) / 2 : around;
        setView(t, [at - (at - from) * factor, at + (to - at) * factor]);
    }

    function pan(t, share) {
        const [from, to] = t.state.view;
        setView(t, [from + (to - from) * share, to + (to - from) * share]);
    }

    function step(t, by) {
        const { begin, end, state } = t;
        const moment = vt.selection.time == null ? (state.view[0] + state.view[1]) / 2 : vt.selection.time;
        vt.select({ time: Math.min(Math.max(moment + by * (state.view[1] - state.view[0]) / 100, begin), end) });
    }

    function edge(t, which) {
        const { state } = t;
        const range = (vt.selection.range || state.view).slice();
        if (vt.selection.time == null)
            return;
        range[which] = vt.selection.time;
        vt.select({ range: d3.extent(range) });
    }

    function zoomToRange(t) {
        if (vt.selection.range)
            setView(t, vt.selection.range);
    }

    /* --- drawing --- */

    function later(t) {
        if (t.pending)
            return;
        t.pending = true;
        requestAnimationFrame(function () {
            t.pending = false;
            render(t);
        });
    }

    function render(t) {
        const { page, state, phases, svg, charts, toRange } = t;
        const width = Math.max(charts.clientWidth, 200);
        const height = heightOf(page), gap = TOP + BOTTOM;
        const full = page.courses.length * (height + gap) + (phases.rows ? phases.rows * PHASE + 10 : 0);
        t.x = d3.scaleLinear().domain(state.view).range([LEFT, width - RIGHT]);
        t.signs.clear();
        svg.attr("width", width).attr("height", full).attr("viewBox", "0 0 " + width + " " + full).selectAll("*").remove();
        svg.append("clipPath").attr("id", "inside").append("rect").attr("x", LEFT).attr("y", 0).attr("width", width - LEFT - RIGHT).attr("height", full);
        page.courses.forEach((course, i) => chart(t, course, TOP + i * (height + gap), height, width));
        drawPhases(t, TOP + page.courses.length * (height + gap) - TOP + 6);
        svg.append("g").attr("class", "chosen");
        drawChosen(t, vt.selection, full);
        pointer(t, width, full);
        drawLegend(t);
        tell(t);
        toRange.disabled = !vt.selection.range;
    }

    function chart(t, course, top, height, width) {
        const { page, state, x, svg } = t;
        const group = svg.append("g").attr("class", "chart").attr("data-device", course.device);
        const shown = visible(course, x), device = deviceOf(page, course), { total_bytes: total } = device;
        const most = Math.max(d3.max(course.live) || 0, d3.max(course.used || []) || 0, d3.max(course.own || []) || 0, 1);
        const near = total != null && (state.whole || total < most * 1.6);
        const y = d3.scaleLinear().domain([0, (near ? Math.max(total, most) : most) * 1.1]).range([top + height, top]);
        for (const tick of byteTicks(y.domain()[1])) {
            group.append("line").attr("class", "grid").attr("x1", LEFT).attr("x2", width - RIGHT).attr("y1", y(tick)).attr("y2", y(tick));
            group.append("text").attr("class", "tick").attr("x", LEFT - 8).attr("y", y(tick) + 4).attr("text-anchor", "end").text(vt.bytes(tick));
        }
        const inside = group.append("g").attr("clip-path", "url(#inside)");
        if (state.mode === "role")
            columns(t, inside, course, shown, y);
        else
            stacked(t, inside, course, shown, y, state.mode === "line" ? byLine(course) : byClass(course));
        if (state.mode === "class")
            untracked(t, inside, course, shown, y);
        line(t, inside, course, shown, course.used, y, "used", "all processes, by the driver");
        line(t, inside, course, shown, course.own, y, "own", "this process, by the driver");
        if (near) {
            inside.append("line").attr("class", "total").attr("x1", LEFT).attr("x2", width - RIGHT).attr("y1", y(total)).attr("y2", y(total));
            const left = peakIsRight(t, device); // away from the words at the peak
            group.append("text").attr("class", "total").attr("x", left ? LEFT + 4 : width - RIGHT - 4).attr("y", y(total) - 5)
                .attr("text-anchor", left ? "start" : "end").text(vt.bytes(total) + ", the device");
        }
        group.append("text").attr("class", "device").attr("x", width < 600 ? 0 : LEFT).attr("y", top - 21).text(vt.deviceName(course.device) +
            (device.name ? "  " + device.name.slice(0, 60) : "") + (total != null && !near ? "  (" + vt.bytes(total) + ")" : ""));
        axis(t, group, top + height, width);
        peakMark(t, inside, course, device, y);
        events(t, inside, course, top, height);
    }

    /* The middle of the longest run of steps that all have space; null: there is none. */
    function widest(xs, room) {
        let from = 0, best = [0, 0];
        room.forEach(function (has, k) {
            if (!has)
                from = k + 1;
            else if (xs[k + 1] - xs[from] > best[1] - best[0])
                best = [xs[from], xs[k + 1]];
        });
        return best[1] - best[0] > 8 ? (best[0] + best[1]) / 2 : null;
    }

    function stacked(t, group, course, shown, y, layers) {
        const { x } = t;
        const chosen = vt.chosenSites(vt.selection), last = x.domain()[1];
        const elsewhere = chosen && layers.some(layer => layer.kind !== "rest" && layer.sites.some(site => chosen.has(site)));
        const base = shown.map(() => 0);
        const xs = shown.map(i => Math.max(x(course.at[i]), LEFT - 1)).concat(x(Math.min(last, course.end)));
        for (const layer of layers) {
            const low = base.slice();
            shown.forEach((i, k) => { base[k] += layer.values[i]; });
            if (!shown.some(i => layer.values[i]))
                continue;
            const points = d3.range(xs.length), at = k => Math.min(k, shown.length - 1);
            const area = d3.area().curve(d3.curveStepAfter).x(k => xs[k].toFixed(1)).y0(k => y(low[at(k)]).toFixed(1)).y1(k => y(base[at(k)]).toFixed(1));
            const fits = !chosen || !layer.sites.length || layer.sites.some(site => chosen.has(site)) || (layer.kind === "rest" && !elsewhere);
            group.append("path").attr("class", "band").attr("d", area(points)).style("fill", layer.colour)
                .style("opacity", fits ? 1 : 0.22).attr("data-band", layer.name.slice(0, 80));
            const at_mark = layer.mark && widest(xs, shown.map((_, k) => y(low[k]) - y(base[k]) > 11));
            if (at_mark) {
                const k = d3.bisectRight(xs, at_mark) - 1;
                group.append("text").attr("class", "mark").attr("x", at_mark).attr("y", (y(low[k]) + y(base[k])) / 2 + 4).text(layer.mark);
            }
        }
    }

    /* Memory that the driver counts for this process beyond live memory, where known. */
    function untracked(t, group, course, shown, y) {
        const { x } = t;
        const known = d3.range(shown[0], shown[shown.length - 1] + 1).filter(i => course.own && course.own[i] > course.live[i]);
        group.selectAll(null).data(known.slice(0, 2000)).enter().append("rect").attr("class", "untracked").attr("x", i => x(course.at[i]) - 2)
            .attr("width", 4).attr("y", i => y(course.own[i])).attr("height", i => y(course.live[i]) - y(course.own[i]))
            .append("title").text(i => "untracked: " + vt.bytes(course.own[i] - course.live[i]) + " (contexts, loaded code)");
    }

    /* The purposes of memory at the snapshots; in the background the live memory. */
    function columns(t, group, course, shown, y) {
        const { page, x } = t;
        stacked(t, group, course, shown, y, [{ name: "live", colour: "var(--line)", values: course.live, sites: [] }]);
        for (const column of byRole(page, course)) {
            let low = 0;
            for (const part of column.parts) {
                group.append("rect").attr("class", "role").attr("x", x(column.at) - 7).attr("width", 14).attr("y", y(low + part.bytes))
                    .attr("height", Math.max(0, y(low) - y(low + part.bytes))).style("fill", part.colour)
                    .on("mousemove", () => tip(t, [part.name + " " + vt.bytes(part.bytes), column.moment]));
                low += part.bytes;
            }
        }
    }

    /* Samples as dots, since nothing is known between them; if dots would touch, a line. */
    function line(t, group, course, shown, values, y, name, title) {
        const { x } = t;
        if (!values)
            return;
        const first = shown[0], last = shown[shown.length - 1];
        const known = d3.range(first, last + 1).filter(i => values[i] != null);
        const path = d3.line().x(i => x(course.at[i]).toFixed(1)).y(i => y(values[i]).toFixed(1));
        if (known.length < 400)
            group.selectAll(null).data(known).enter().append("circle").attr("class", "samples " + name).attr("cx", i => x(course.at[i]))
                .attr("cy", i => y(values[i])).attr("r", 2).append("title").text(title);
        else
            group.append("path").attr("class", "samples " + name).attr("d", path(known)).append("title").text(title);
    }

    function axis(t, group, at, width) {
        const { state, x } = t;
        const span = state.view[1] - state.view[0];
        group.append("line").attr("class", "axis").attr("x1", LEFT).attr("x2", width - RIGHT).attr("y1", at).attr("y2", at);
        for (const tick of x.ticks(Math.max(3, Math.floor((width - LEFT) / 130))))
            group.append("text").attr("class", "tick").attr("x", x(tick)).attr("y", at + 15).attr("text-anchor", "middle").text(timeText(tick, span));
    }

    function peakIsRight(t, device) {
        const { x } = t;
        return x(device.peak_at_ns) > (x.range()[0] + x.range()[1]) / 2;
    }

    function peakMark(t, group, course, device, y) {
        const { state, x } = t;
        if (device.peak_at_ns < state.view[0] || device.peak_at_ns > state.view[1] || !device.peak_bytes)
            return;
        const left = peakIsRight(t, device);
        group.append("circle").attr("class", "peak").attr("cx", x(device.peak_at_ns)).attr("cy", y(device.peak_bytes)).attr("r", 3.5);
        group.append("text").attr("class", "peak").attr("x", x(device.peak_at_ns) + (left ? -8 : 8)).attr("y", y(device.peak_bytes) - 5)
            .attr("text-anchor", left ? "end" : "start").text("peak " + vt.bytes(device.peak_bytes));
    }

    /* Failed allocations, alarms, snapshots, marks: above the chart. */
    function events(t, group, course, top, height) {
        const { page, state, x } = t;
        const put = function (at, kind, sign, lines, click) {
            if (at < state.view[0] || at > state.view[1])
                return;
            t.signs.set(kind.split(" ")[0], [sign || "┆", lines[0].split(",")[0]]);
            const mark = group.append("g").attr("class", "event " + kind).attr("tabindex", kind === "oom" ? 0 : null);
            mark.append("line").attr("x1", x(at)).attr("x2", x(at)).attr("y1", top).attr("y2", kind === "oom" || kind === "snapshot" ? top + height : top + 6);
            mark.append("text").attr("x", x(at)).attr("y", top - 4).attr("text-anchor", "middle").text(sign);
            mark.on("mousemove", () => tip(t, lines)).on("mouseleave", () => vt.tooltip(d3.event, null)).on("click", click);
        };
        for (const snapshot of page.snapshots)
            put(snapshot.at_ns, snapshot.why === "growth" ? "snapshot passing" : "snapshot", "◆", ["snapshot of owners", snapshot.phase || snapshot.why, snapshot.moment],
                () => vt.select({ time: snapshot.at_ns }));
        let marks = 0;
        for (const phase of page.phases)
            if (phase.mark && phase.start_ns >= state.view[0] && phase.start_ns <= state.view[1] && marks++ < 300)
                put(phase.start_ns, "mark", "", ["mark", phase.name || "unknown name", vt.duration(phase.start_ns)], () => vt.select({ time: phase.start_ns }));
        for (const alarm of page.alarms)
            if (alarm.device === course.device || alarm.device == null)
                put(alarm.at_ns, "alarm", "▲", ["alarm, " + vt.duration(alarm.at_ns), vt.bytes(alarm.live_bytes) + " live, from VRAMTRACE_ALARM = " + vt.bytes(alarm.mark_bytes) + " on"],
                    () => vt.select({ time: alarm.at_ns }));
        for (const oom of page.ooms)
            if (oom.host_memory ? course.device === "host" : oom.device === course.device || oom.device == null)
                put(oom.at_ns, "oom", "▼", ["out of memory, " + vt.duration(oom.at_ns), "asked " + vt.bytes(oom.requested_bytes) + "; " +
                    (oom.free_bytes == null ? "free: unknown" : vt.bytes(oom.free_bytes) + " free"), (oom.cause || "cause unknown") + ": " + oom.why,
                "outcome: " + oom.outcome], () => vt.select({ time: oom.at_ns }));
    }

    function drawPhases(t, top) {
        const { end, state, phases, x, svg } = t;
        const group = svg.append("g").attr("class", "phases").attr("clip-path", "url(#inside)"), ends = [];
        for (const { phase, row } of phases.placed) {
            const stop = phase.end_ns == null ? end : phase.end_ns;
            if (stop < state.view[0] || phase.start_ns > state.view[1])
                continue;
            const from = Math.max(x(phase.start_ns), LEFT), to = Math.min(x(stop), x.range()[1]), wide = to - from;
            if (wide < 1 && ends[row] > from - 1)
                continue; // it has no pixel of its own
            ends[row] = to;
            const bar = group.append("g").attr("class", "phase");
            bar.append("rect").attr("x", from).attr("y", top + row * PHASE).attr("width", Math.max(wide - 1, 1)).attr("height", PHASE - 2).attr("rx", 2)
                .style("fill", "var(--line-" + colourOf(t, phase.name) + ")");
            const letters = Math.floor((wide - 8) / 6.6), name = phase.name || "unknown name";
            if (letters > 2)
                bar.append("text").attr("x", from + 4).attr("y", top + row * PHASE + 11).text(name.length > letters ? name.slice(0, letters - 1) + "…" : name);
            bar.on("mousemove", () => tip(t, [name.slice(0, 300), vt.duration(phase.start_ns) + " to " +
                (phase.end_ns == null ? "the end of the log" : vt.duration(phase.end_ns)), "peak " + vt.bytes(phase.peak_bytes)]))
                .on("mouseleave", () => vt.tooltip(d3.event, null)).on("click", () => vt.select({ range: [phase.start_ns, stop] }));
        }
    }

    function colourOf(t, name) {
        if (!t.names.has(name))
            t.names.set(name, t.names.size % 16);
        return t.names.get(name);
    }

    /* --- the selection --- */

    function drawChosen(t, { time, range }, height) {
        const { x, svg } = t;
        const group = svg.select(".chosen");
        group.selectAll("*").remove();
        if (range)
            group.append("rect").attr("class", "range").attr("clip-path", "url(#inside)").attr("x", x(range[0])).attr("y", 0)
                .attr("width", Math.max(1, x(range[1]) - x(range[0]))).attr("height", height);
        if (time != null)
            group.append("line").attr("class", "time").attr("clip-path", "url(#inside)").attr("x1", x(time)).attr("x2", x(time)).attr("y1", 0).attr("y2", height);
    }

    /* Drag: a part of the run. Click: a moment. Wheel: zoom; at full view it scrolls the page. */
    function pointer(t, width, height) {
        const { page, begin, end, state, x, svg } = t;
        const charted = page.courses.length * (heightOf(page) + TOP + BOTTOM);
        let from = null;
        const at = () => Math.min(Math.max(x.invert(d3.mouse(svg.node())[0]), state.view[0]), state.view[1]);
        const rect = svg.insert("rect", "g").attr("class", "ground").attr("x", LEFT).attr("y", 0).attr("width", width - LEFT - RIGHT).attr("height", charted);
        rect.lower();
        svg.on("mousedown", function () {
            if (d3.event.button === 0 && d3.mouse(svg.node())[1] < charted && !d3.event.target.closest(".event"))
                from = at();
            if (from != null)
                d3.event.preventDefault();
        }).on("mousemove", function () {
            if (from != null)
                drawChosen(t, { range: d3.extent([from, at()]) }, height);
            else if (d3.mouse(svg.node())[1] < charted && !d3.event.target.closest(".event, .role"))
                hover(t, at());
        }).on("mouseleave", () => vt.tooltip(d3.event, null)).on("mouseup", function () {
            if (from == null)
                return;
            const to = at(), range = d3.extent([from, to]);
            if (Math.abs(x(to) - x(from)) > 4)
                vt.select({ range: range });
            else
                vt.select({ time: to, range: null });
            from = null;
        }).on("dblclick", () => setView(t, [begin, end])).on("wheel", function () {
            const out = d3.event.deltaY > 0;
            if (out && state.view[1] - state.view[0] >= end - begin)
                return;
            d3.event.preventDefault();
            zoom(t, out ? 1.25 : 0.8, at());
        });
    }

    /* A tooltip beside the whole picture, or beside the chart of the device under the pointer. */
    function tip(t, lines) {
        const box = t.svg.node().getBoundingClientRect(), each = heightOf(t.page) + TOP + BOTTOM;
        const top = box.top + Math.floor((d3.event.clientY - box.top) / each) * each;
        vt.tooltip(d3.event, lines, [box, { left: box.left, right: box.right, top: top, bottom: top + each }]);
    }

    /* The device under the pointer, at this moment. */
    function hover(t, time) {
        const { page, state, svg } = t;
        const [, py] = d3.mouse(svg.node()), each = heightOf(page) + TOP + BOTTOM;
        const course = page.courses[Math.min(page.courses.length - 1, Math.floor(py / each))], i = slot(course, time);
        const layers = (state.mode === "class" ? byClass : byLine)(course).map(layer => [layer.name, layer.values[i]]).filter(([, bytes]) => bytes)
            .sort((a, b) => b[1] - a[1]);
        tip(t, [timeText(time, state.view[1] - state.view[0]) + ": " + vt.bytes(course.live[i]) + " live",
            ...layers.slice(0, 7).map(([name, bytes]) => vt.bytes(bytes) + "  " + vt.shortPath(name).slice(0, 80)),
            layers.length > 7 ? "and " + (layers.length - 7) + " more" : null,
            course.used && course.used[i] != null ? vt.bytes(course.used[i]) + "  used by all processes (driver)" : null]);
    }

    function drawLegend(t) {
        const { page, state, legend } = t;
        const entries = new Map(), chosen = vt.chosenSites(vt.selection);
        for (const course of page.courses) {
            if (state.mode === "role")
                vt.roles.filter(role => byRole(page, course).some(column => column.parts.some(part => part.name === role)))
                    .forEach(role => entries.set(role, { colour: "var(--" + role + ")" }));
            else
                for (const layer of state.mode === "line" ? byLine(course) : byClass(course)) {
                    const old = entries.get(layer.name) || { most: 0 };
                    entries.set(layer.name, { colour: layer.colour, mark: layer.mark, most: Math.max(old.most, d3.max(layer.values) || 0), sites: layer.sites, kind: layer.kind });
                }
        }
        if (state.mode === "class" && page.courses.some(course => course.own && course.own.some((own, i) => own > course.live[i])))
            entries.set("untracked, where the driver was asked", { colour: "var(--untracked)" });
        const item = function ([name, entry]) {
            const is_line = entry.kind === "line", line = is_line && entry.sites.length ? page.sites[entry.sites[0]].line : null;
            const text = [...vt.swatch(entry.colour, entry.mark), vt.shortPath(name).slice(0, 90),
                entry.most ? vt.el("span", { class: "dim" }, " " + vt.bytes(entry.most)) : null];
            return vt.button(text, () => vt.select({ line: vt.selection.line === line ? null : line }), {
                class: "band" + (is_line && chosen && entry.sites.some(site => chosen.has(site)) ? " chosen" : ""),
                title: is_line ? "choose this line" : null, disabled: line == null
            });
        };
        legend.replaceChildren(...[...entries].map(item),
        ...[...t.signs].map(([kind, [sign, text]]) => vt.el("span", { class: "dim sign " + kind }, vt.el("b", null, sign), " " + text)),
        page.courses.some(course => course.used) ? vt.el("span", { class: "dim samples" }, "driver's figures: ", vt.el("i", { class: "swatch used" }), "used by all processes, ",
            vt.el("i", { class: "swatch own" }), "by this one") : "");
    }

    /* The memory held in the selected part, or at the moment. */
    function tell(t) {
        const { page, state, held } = t;
        const { time, range } = vt.selection;
        if (!range && time == null) {
            held.replaceChildren(vt.aside("Drag over the chart to see the memory held in a part of the run; click for a moment. " +
                "The wheel or + and - zoom."));
            return;
        }
        const span = range ? range[1] - range[0] : state.view[1] - state.view[0], rows = [];
        for (const course of page.courses) {
            const first = slot(course, range ? range[0] : time), last = slot(course, range ? range[1] : time);
            const most = values => range ? d3.max(values.slice(first, last + 1)) : values[first];
            for (const layer of [{ name: "live", values: course.live, sites: [] }, ...byLine(course)])
                if (most(layer.values))
                    rows.push({ course: course, layer: layer, begin: layer.values[first], most: most(layer.values), end: layer.values[last] });
        }
        const cell = bytes => vt.el("td", { class: "number" }, vt.bytes(bytes));
        const change = row => row.end - row.begin, many = page.courses.length > 1;
        held.replaceChildren(vt.el("h3", null, range ? "From " + timeText(range[0], span) + " to " + timeText(range[1], span) : "At " + timeText(time, span)),
            vt.el("div", { class: "scroll" }, vt.el("table", null, vt.el("thead", null, vt.el("tr", null, vt.el("th", { scope: "col" }, "what"),
                (range ? ["at its start", "highest", "at its end", "change"] : ["held then"]).map(name => vt.el("th", { scope: "col", class: "number" }, name)))),
            vt.el("tbody", null, rows.map(row => vt.el("tr", { class: row.layer.name === "live" && !row.layer.kind ? "sum" : null },
                vt.el("th", { scope: "row", class: "name" }, many ? vt.el("span", { class: "dim" }, vt.deviceName(row.course.device) + "  ") : null,
                    row.layer.colour ? vt.swatch(row.layer.colour, row.layer.mark) : null,
                    row.layer.kind === "line" && row.layer.sites.length ? vt.link(row.layer.name, () => {
                        vt.select({ site: row.layer.sites[0] });
                        vt.open("table", true);
                    }) : row.layer.name === "live" && !row.layer.kind ? "all that was live" : row.layer.name),
                range ? [cell(row.begin), cell(row.most), cell(row.end), vt.el("td", { class: "number" + (change(row) > 0 ? " rise" : "") },
                    (change(row) > 0 ? "+" : "") + vt.bytes(change(row)))] : cell(row.begin)))))));
    }

    /* --- around the picture --- */

    function tools(t) {
        const { page, begin, end, state } = t;
        const button = (text, title, run) => vt.button(text, run, { title: title });
        const modes = [["line", "by line"], ["class", "by class"]];
        if (page.courses.some(course => byRole(page, course).length))
            modes.push(["role", "by what it is for"]);
        const choice = vt.choice("stacked", modes, function (mode) {
            state.mode = mode;
            later(t);
        });
        const whole = vt.button("whole device", function () {
            state.whole = !state.whole;
            whole.setAttribute("aria-pressed", state.whole);
            later(t);
        }, { class: "toggle", "aria-pressed": "false", title: "the axis reaches to the device's size" });
        t.toRange = button("to chosen part", "zoom to the chosen part (z)", () => zoomToRange(t));
        return vt.el("div", { class: "tools" }, choice, page.courses.some(course => deviceOf(page, course).total_bytes != null) ? whole : null,
            vt.el("span", { class: "space" }), button("+", "zoom in (+)", () => zoom(t, 0.5)), button("−", "zoom out (-)", () => zoom(t, 2)),
            button("whole run", "the whole run (0)", () => setView(t, [begin, end])), t.toRange);
    }

    function keys(t) {
        vt.key("+", "zoom in on the chart of time", () => zoom(t, 0.5));
        vt.key("-", "zoom out", () => zoom(t, 2));
        vt.key("0", "the whole run", () => setView(t, [t.begin, t.end]));
        vt.key("ArrowLeft", "earlier", () => pan(t, -0.2));
        vt.key("ArrowRight", "later", () => pan(t, 0.2));
        vt.key(",", "the moment a step earlier", () => step(t, -1));
        vt.key(".", "the moment a step later", () => step(t, 1));
        vt.key("[", "the chosen part begins at the moment", () => edge(t, 0));
        vt.key("]", "the chosen part ends at the moment", () => edge(t, 1));
        vt.key("z", "zoom to the chosen part", () => zoomToRange(t));
    }

    /* The number of items that the picture leaves out. */
    function missing({ page, phases }) {
        const parts = [[page.phases_left_out, "shorter phase"], [phases.more, "further row of phases", "further rows of phases"],
            [page.ooms_left_out, "other failed allocation"]].filter(([count]) => count > 0).map(of => vt.plural(...of));
        return parts.length ? [vt.aside("Not drawn: " + parts.join(", ") + ".")] : [];
    }

    /* Devices with only a context come last; those used only by other processes are left out. */
    function drawnCourses(courses) {
        const live = course => d3.max(course.live), context = course => !live(course) && d3.max(course.own || []);
        return [...courses.filter(live), ...courses.filter(context)];
    }

    function draw(panel, whole_page) {
        const page = Object.assign({}, whole_page, { courses: drawnCourses(whole_page.courses) });
        const begin = Math.min(...page.courses.map(course => course.begin)), end = Math.max(...page.courses.map(course => course.end), begin + 1);
        const charts = vt.el("div", { class: "charts" }), legend = vt.el("div", { class: "bands" }), held = vt.el("div", { class: "held", "aria-live": "polite" });
        const svg = d3.select(charts).append("svg").attr("role", "img").attr("aria-label", "device memory over time");
        const t = {
            page: page, begin: begin, end: end, phases: phaseRows(page), state: { mode: "line", view: [firstUse(page, begin, end), end], whole: false },
            charts: charts, legend: legend, held: held, svg: svg, toRange: null, x: null, pending: false, names: new Map(), signs: new Map(),
        };
        panel.append(tools(t), charts, legend, held, ...missing(t));
        keys(t);
        render(t);
        return { select: () => later(t), resize: () => render(t) };
    }

    vt.part({ id: "time", title: "Memory over time", order: 2, tab: false, wanted: page => page.courses.some(course => course.live.some(bytes => bytes)), draw: draw });
}());
