/* SPDX-License-Identifier: MIT */
/*
 * The page's data, and shared tools of all pictures: decoding, sizes and times as text, elements, and the selection
 * that pictures share.
 *
 * All files share `vt`. A picture registers itself with vt.part(); page.js builds the page from these parts.
 */
"use strict";

const vt = {
    parts: [],
    /* The selection: `site`, `line` are indices in page.sites and page.lines, `owner` {snapshot, owner} are indices
     * in page.snapshots and its owners, `time` ns, `range` [ns, ns]. null: none. */
    selection: { site: null, line: null, owner: null, time: null, range: null },
    page: null, // the process shown
    drawn: [],  // its parts drawn so far
};

/* Purposes of memory, and the verdicts of a line, the worst first, as in the data. */
vt.roles = ["parameters", "gradients", "optimizer", "activations", "buffers", "batch", "other"];
vt.verdicts = ["lost", "growing", "suspect", "unfreed", "held", "cache", "runtime", "freed", "unknown"];

/* Registers a part of the page:
 *     id, title      of its section or tab
 *     tab            a tab below the pictures over time; else a separate section
 *     wanted(page)   whether there is anything to draw
 *     draw(panel, page)  draws into an empty <div>; may return {select(selection, change), resize()}: called when
 *                    the selection changes (`change`: the changed keys), and when the page's width changes
 * */
vt.part = function (part) {
    vt.parts.push(part);
};

/* Changes the selection; `change` has keys of vt.selection. Selecting a site also selects its line; selecting a line
 * clears its site, as does an owner without it. `by`: the part that is not notified. */
vt.select = function (change, by) {
    const chosen = Object.assign({}, change), page = vt.page;
    if (chosen.site != null && chosen.line === undefined)
        chosen.line = page.sites[chosen.site].line;
    if (chosen.line !== undefined && chosen.site === undefined)
        chosen.site = null;
    const changed = Object.keys(chosen).filter(key => String(vt.selection[key]) !== String(chosen[key]));
    if (!changed.length)
        return;
    Object.assign(vt.selection, chosen);
    for (const part of vt.drawn)
        if (part.select && part !== by)
            part.select(vt.selection, changed);
};

/* The selected sites: all on the line, or the single one. null: none. */
vt.chosenSites = function (selection) {
    if (selection.site != null)
        return new Set([selection.site]);
    return selection.line != null ? new Set(vt.page.lines[selection.line].sites) : null;
};

/* --- texts --- */

vt.bytes = function (bytes) {
    if (bytes == null)
        return "unknown";
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let value = Math.abs(bytes), unit = 0;
    while (value >= 999.5 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return (bytes < 0 ? "-" : "") + value.toFixed(digits) + " " + units[unit];
};

vt.count = function (count) {
    return count == null ? "unknown" : count.toString().replace(/\B(?=(\d{3})+$)/g, ",");
};

vt.duration = function (ns) {
    if (ns == null)
        return "unknown";
    const seconds = ns / 1e9;
    if (seconds < 10)
        return seconds.toFixed(3) + " s";
    const whole = Math.floor(seconds), two = n => String(n).padStart(2, "0");
    return Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60) + ":" + two(whole % 60);
};

vt.plural = (count, noun, nouns) => vt.count(count) + " " + (count === 1 ? noun : nouns || noun + "s");

/* Pinned and managed memory. */
vt.isHost = site => site.layer === "host" || site.layer === "managed";

vt.deviceName = device => device === "host" ? "host memory" : device == null ? "GPU ?" : "GPU " + device;

/* A place with only the last folder of its path, for the narrow cells of a table. Titles have all of it. */
vt.shortPath = text => text.replace(/(^|\s)\/?(?:[^\s/]+\/)+([^\s/]+\/[^\s/]+)/g, "$1…/$2");

vt.basename = path => path.slice(path.lastIndexOf("/") + 1);

/* --- elements: data from the log is always text --- */

/* An element with attributes (a function is a listener: onclick) and children, texts or elements. */
vt.el = function (name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (typeof value === "function")
            element.addEventListener(key.slice(2), value);
        else if (value === true)
            element.setAttribute(key, "");
        else if (value != null && value !== false)
            element.setAttribute(key, value);
    }
    for (const child of children.flat())
        if (child != null)
            element.append(child);
    return element;
};

vt.button = (text, run, attributes) => vt.el("button", { type: "button", ...attributes, onclick: run }, text);

/* A button that looks like a link. */
vt.link = (text, run, attributes) => vt.button(text, run, { class: "link", ...attributes });

/* A remark beside the picture. */
vt.aside = text => vt.el("p", { class: "dim" }, text);

/* The children of a <dl>: [name, text or element] each; entries without a text are left out. */
vt.terms = (pairs, attributes) => pairs.filter(([, text]) => text != null)
    .flatMap(([name, text]) => [vt.el("dt", null, name), vt.el("dd", attributes, text)]);

/* Keys that move between the buttons of a row: number of steps for each. */
vt.arrows = function (row, steps) {
    row.addEventListener("keydown", function (event) {
        const buttons = [...row.children], step = steps[event.key], at = buttons.indexOf(event.target);
        if (!step || at < 0)
            return;
        event.preventDefault();
        const next = buttons[(at + step + buttons.length) % buttons.length];
        next.click();
        next.focus();
    });
};

/* A choice among [value, text] pairs, as buttons in a row. `choose(value)` is called at once for the first. */
vt.choice = function (label, pairs, choose) {
    const row = vt.el("div", { class: "choice", role: "radiogroup", "aria-label": label });
    const set = function (value) {
        for (const button of row.children) {
            button.setAttribute("aria-checked", button.dataset.value === String(value));
            button.tabIndex = button.dataset.value === String(value) ? 0 : -1;
        }
        choose(value);
    };
    row.append(...pairs.map(([value, text]) => vt.button(text, () => set(value), { role: "radio", "data-value": value })));
    vt.arrows(row, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
    set(pairs[0][0]);
    return row;
};

/* The tooltip: lines of text, the first emphasised; without lines it is hidden. It must not cover the pointer's
 * target: it is placed beside the first box in `around` (default: the element under the pointer) with enough space in
 * the window, else beside the pointer. */
vt.tooltip = function (event, lines, around) {
    let tip = document.getElementById("tip");
    if (!tip)
        document.body.append(tip = vt.el("div", { id: "tip", role: "tooltip" }));
    tip.hidden = !lines || !lines.length;
    if (tip.hidden)
        return;
    tip.replaceChildren(...lines.filter(line => line != null).map(line => vt.el("div", null, line)));
    const { width, height } = tip.getBoundingClientRect(), gap = 8, x = event.clientX, y = event.clientY;
    const across = Math.max(0, Math.min(x, innerWidth - width)), down = Math.max(0, Math.min(y, innerHeight - height));
    const pointer = { left: x - gap, right: x + gap, top: y - gap, bottom: y + 2 * gap };
    const [left, top] = [...around || [event.target.getBoundingClientRect()], pointer]
        .flatMap(box => [[across, box.top - gap - height], [across, box.bottom + gap], [box.right + gap, down], [box.left - gap - width, down]])
        .find(([left, top]) => left >= 0 && top >= 0 && left + width <= innerWidth && top + height <= innerHeight) || [0, 0];
    tip.style.left = left + "px";
    tip.style.top = top + "px";
};

/* A colour of style.css: vt.colour("leak"). */
vt.colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/* --- decoding --- */

/* {unit, steps} to plain numbers. */
vt.series = function (series) {
    if (!series)
        return null;
    let last = 0;
    return series.steps.map(function (step) {
        if (step == null)
            return null;
        last += step;
        return last * series.unit;
    });
};

/* Converts a process of the JSON report for the pictures: numbers and ids are replaced by the objects, once. */
vt.decode = function (page) {
    if (page.decoded)
        return page;
    page.decoded = true;
    page.frames.forEach(function (frame, i) {
        frame.name = page.frame_names[i] || frame.function;
        frame.py = frame.language === "python";
        frame.where = frame.file ? frame.file + (frame.line ? ":" + frame.line : "") : frame.module || "";
    });
    // A waiting frame is the same code location as one that is not.
    const places = new Map();
    for (const frame of page.frames) {
        const place = JSON.stringify([frame.name, frame.file, frame.line, frame.module, frame.py]);
        if (!places.has(place))
            places.set(place, frame);
        frame.place = places.get(place);
    }
    page.stacks = page.stacks.map(stack => stack.map(number => page.frames[number]));
    const places_of = new Map(page.sites.map((site, i) => [site.site, i]));
    page.lines = [];
    page.sites.forEach(function (site, i) {
        site.index = i;
        site.stack = page.stacks[site.stack_id] || [];
        if (vt.isHost(site))
            site.device = "host";
        site.leaked_bytes = page.site_leaks[i];
        site.line = page.site_lines[i];
        page.lines[site.line] = page.lines[site.line] || { sites: [], name: site.at };
        page.lines[site.line].sites.push(i);
    });
    for (const owner of page.snapshots.flatMap(snapshot => snapshot.owners))
        owner.sites = owner.sites.map((id, i) => [places_of.get(id), owner.site_bytes[i], owner.site_counts[i]]);
    for (const course of page.courses) {
        for (const key of ["at", "live", "used", "own"])
            course[key] = vt.series(course[key]);
        for (const band of course.bands)
            band.bytes = vt.series(band.bytes);
        course.bands.forEach(band => { band.name = vt.bandName(page, band); });
    }
    vt.colourLines(page);
    for (const map of page.maps)
        map.regions = map.regions.map(vt.decodeRegion);
    return page;
};

/* Gives each line of code its colour (in style.css) and its mark, a number for readers who cannot distinguish
 * colours, for all pictures and devices: first the lines of memory over time, then the largest. Leaks are red. */
vt.colourLines = function (page) {
    const bands = page.courses.flatMap(course => course.bands).filter(band => band.kind === "line");
    const nameOf = band => band.sites.length ? page.lines[page.sites[band.sites[0]].line].name : band.name;
    const leaks = new Set(bands.filter(band => band.leak).map(nameOf)), peaks = new Map(), used = [0, 0];
    const shown = new Set([...leaks, ...bands.map(nameOf)]);
    for (const site of page.sites.filter(site => site.class !== "runtime" && !site.segments)) {
        const { name } = page.lines[site.line];
        peaks.set(name, (peaks.get(name) || 0) + site.peak_bytes);
        if (site.leaked_bytes)
            leaks.add(name);
    }
    const looks = new Map([...new Set([...shown, ...[...peaks.keys()].sort((a, b) => peaks.get(b) - peaks.get(a))])].map(function (name, i) {
        const leak = leaks.has(name), at = used[+leak]++, colour = leak ? at % 5 ? "leak-" + at % 5 : "leak" : "line-" + at % 16;
        return [name, { colour: at < (leak ? 5 : 16) || shown.has(name) ? colour : leak ? "leak" : "rest", mark: String(i + 1) }];
    }));
    bands.forEach(band => { band.line = looks.get(nameOf(band)); });
    page.lines.forEach(line => Object.assign(line, looks.get(line.name)));
};

/* The colour and the mark before a name in a legend. */
vt.swatch = (colour, mark) => [vt.el("i", { class: "swatch", style: "background: " + colour }), mark && vt.el("b", { class: "mark" }, mark)];

/* Pieces are written flat: [gap before it, bytes, idle, site, blocks] each. */
vt.decodeRegion = function ([address, bytes, site, segment, flat]) {
    const pieces = [];
    for (let i = 0, end = 0; i < flat.length; i += 5) {
        const offset = end + flat[i];
        pieces.push({ offset: offset, bytes: flat[i + 1], idle: flat[i + 2], site: flat[i + 3], blocks: flat[i + 4] });
        end = offset + flat[i + 1];
    }
    return { address: address, bytes: bytes, site: site, segment: segment === 1, pieces: pieces };
};

vt.bandName = function (page, band) {
    const names = { leak: "other leaks", rest: "other lines", runtime: "CUDA libraries", idle: "cache, not in use" };
    return names[band.kind] || (band.sites.length ? page.sites[band.sites[0]].at : "one line");
};
