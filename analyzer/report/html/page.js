/* SPDX-License-Identifier: MIT */
/*
 * Builds the page: its head, the answer, the pictures over time, the tabs below; theme, keyboard, printing. The last
 * file, because it starts everything.
 */
"use strict";

(function () {
    /* Characters that change the direction of text would write a name over its neighbours. */
    const data = JSON.parse(document.getElementById("data").textContent.replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd"));
    const body = document.body, root = document.documentElement;
    let tabs = [];
    for (const process of data.processes)
        Object.assign(process, process.page);
    root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

    /* --- head --- */

    function themeButton() {
        const button = vt.button("", turn, { id: "theme", title: "light or dark (d)" });
        const dark = () => root.dataset.theme === "dark";
        const label = () => { button.textContent = dark() ? "light" : "dark"; };
        function turn() {
            root.dataset.theme = dark() ? "light" : "dark";
            label();
            resized();
        }
        label();
        return button;
    }

    function facts(page) {
        const started = page.started_at == null ? null : new Date(page.started_at);
        const list = [
            page.host, page.job && "job " + page.job, page.rank != null && "rank " + page.rank, "pid " + page.pid,
            started && started.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }),
            (page.complete ? "ran " : "log up to ") + page.ended,
            vt.count(page.events) + " events, " + vt.count(page.dropped_events) + " dropped",
            !page.complete ? "log INCOMPLETE" : page.dropped_events ? "log WITH GAPS" : null,
        ];
        return vt.el("ul", { class: "facts" }, list.filter(Boolean).map(fact => vt.el("li", null, fact)));
    }

    const bar = () => vt.el("div", { class: "bar" }, vt.el("span", { class: "brand" }, "vramtrace"),
        vt.processPicker(data, show), vt.el("span", { class: "space" }), themeButton());

    const footer = () => vt.el("footer", null, ["vramtrace", data.processes.length && data.processes[0].version, "-"].filter(Boolean).join(" "), " ",
        vt.el("kbd", null, "?"), " lists the keys");

    function head(page) {
        return vt.el("header", { id: "head" }, bar(),
            vt.el("h1", { title: page.title }, page.title), facts(page),
            page.simulated ? vt.el("p", { class: "simulated" }, vt.el("b", null, "SIMULATED GPU"),
                " memory behaves as on a device, kernels did not run.") : null,
            page.window ? vt.el("p", { class: "simulated" }, "showing only " +
                (page.window.since_ns == null ? "the start" : vt.duration(page.window.since_ns)) + " to " +
                (page.window.until_ns == null ? "the end" : vt.duration(page.window.until_ns)) + " of the run") : null);
    }

    /* --- parts --- */

    function draw(part, panel) {
        const page = vt.page;
        if (panel.dataset.drawn)
            return;
        panel.dataset.drawn = "yes";
        const handle = part.draw(panel, page) || {};
        vt.drawn.push(handle);
        const chosen = Object.keys(vt.selection).filter(key => vt.selection[key] != null);
        if (chosen.length && handle.select)
            handle.select(vt.selection, chosen);
    }

    function section(part) {
        const panel = vt.el("div", { class: "panel" });
        return [vt.el("section", { id: part.id, "aria-label": part.title },
            part.heading === false ? null : vt.el("h2", null, part.title), panel), () => draw(part, panel)];
    }

    function tabbed(parts) {
        const list = vt.el("div", { role: "tablist", class: "tabs", "aria-label": "pictures" });
        const box = vt.el("div", { class: "tabbed" }, list);
        tabs = parts.map(function (part) {
            const panel = vt.el("div", { class: "panel" });
            const room = vt.el("section", {
                id: part.id, role: "tabpanel", class: "tabpanel", "aria-labelledby": "tab-" + part.id, hidden: true
            }, vt.el("h2", null, part.title), panel);
            const button = vt.button(part.title, () => vt.open(part.id), {
                role: "tab", id: "tab-" + part.id, "aria-controls": part.id, tabindex: -1
            });
            list.append(button);
            box.append(room);
            return { part: part, panel: panel, room: room, button: button };
        });
        vt.arrows(list, { ArrowRight: 1, ArrowLeft: -1 });
        return box;
    }

    /* Opens a tab, or scrolls to a section. `scroll`: also brings a tab into view. */
    vt.open = function (id, scroll) {
        const tab = tabs.find(tab => tab.part.id === id);
        if (tab) {
            for (const other of tabs) {
                other.room.hidden = other !== tab;
                other.button.setAttribute("aria-selected", other === tab);
                other.button.tabIndex = other === tab ? 0 : -1;
            }
            draw(tab.part, tab.panel);
        }
        if (scroll || !tab)
            (tab ? tab.room.parentElement : document.getElementById(id)).scrollIntoView({ behavior: "smooth" });
    };

    /* Shows a process: rebuilds the whole page. */
    function show(index) {
        const scrolled = scrollY;
        const page = vt.decode(data.processes[index]);
        vt.page = page;
        vt.index = index;
        vt.drawn = [{ select: tellChosen }];
        chosen.hidden = true;
        Object.keys(vt.selection).forEach(key => { vt.selection[key] = null; });
        document.title = page.title.slice(0, 80) + " - vramtrace";
        const parts = vt.parts.filter(part => !part.wanted || part.wanted(page)).sort((a, b) => a.order - b.order);
        const sections = parts.filter(part => !part.tab).map(section), below = parts.filter(part => part.tab);
        const main = vt.el("main", null, sections.map(([element]) => element), below.length ? tabbed(below) : null);
        for (const old of body.querySelectorAll("#head, main, footer"))
            old.remove();
        body.append(head(page), main, footer(), chosen);
        sections.forEach(([, start]) => start());
        if (below.length)
            vt.open(below[0].id);
        scrollTo(0, scrolled);
    }

    /* --- the selection, at the bottom of the window: it marks all pictures, so it must be visible and removable --- */

    const chosen = vt.el("div", { id: "chosen", role: "status", hidden: true });

    function tellChosen(selection) {
        const page = vt.page, { site, line, owner, time, range } = selection, texts = [];
        if (site != null)
            texts.push(page.sites[site].at + "  " + page.sites[site].site.slice(0, data.id_digits));
        else if (line != null)
            texts.push(page.lines[line].name);
        if (owner != null && page.snapshots[owner.snapshot] && page.snapshots[owner.snapshot].owners[owner.owner])
            texts.push(page.snapshots[owner.snapshot].owners[owner.owner].name);
        if (range)
            texts.push(vt.duration(range[0]) + " to " + vt.duration(range[1]));
        else if (time != null)
            texts.push("at " + vt.duration(time));
        chosen.hidden = !texts.length;
        chosen.replaceChildren(vt.el("b", null, "chosen"), ...texts.map(text => vt.el("span", { title: text }, vt.shortPath(text))),
            vt.button("clear", clear, { title: "clear the selection (Escape)" }));
    }

    function clear() {
        vt.select({ site: null, line: null, owner: null, time: null, range: null });
    }

    /* --- keys, size, printing --- */

    vt.keys = [["?", "this list"], ["d", "light or dark"], ["1 - 9", "a tab"], ["Escape", "clear the selection"]];
    /* A picture's keys: vt.key("+", "zoom in", f). */
    const listeners = {};
    vt.key = function (key, what, run) {
        if (!listeners[key])
            vt.keys.push([key, what]);
        listeners[key] = run;
    };

    function help() {
        let box = document.getElementById("help");
        if (!box) {
            box = vt.el("dialog", { id: "help" }, vt.el("h2", null, "Keys"),
                vt.el("dl", null, vt.terms(vt.keys.map(([key, what]) => [vt.el("kbd", null, key), what]))),
                vt.el("form", { method: "dialog" }, vt.el("button", null, "close")));
            body.append(box);
            box.addEventListener("close", () => box.open || box.remove()); // it is added later
        }
        box.showModal();
    }

    document.addEventListener("keydown", function (event) {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
            return;
        if (document.querySelector("#help[open]"))
            return; // the browser closes it on Escape; pictures behind it ignore the key
        if (event.key === "?")
            help();
        else if (event.key === "d")
            document.getElementById("theme").click();
        else if (event.key === "Escape")
            clear();
        else if (event.key >= "1" && event.key <= "9" && tabs[event.key - 1])
            vt.open(tabs[event.key - 1].part.id, true);
        else if (listeners[event.key])
            listeners[event.key](event);
        else
            return;
        event.preventDefault();
    });

    function resized() {
        vt.drawn.filter(part => part.resize).forEach(part => part.resize());
    }

    let width = innerWidth;
    addEventListener("resize", function () {
        if (innerWidth !== width) {
            width = innerWidth;
            resized();
        }
    });
    /* On paper all tabs are open, light, and as wide as a sheet: pictures drawn in pixels do not shrink by
     * themselves. */
    addEventListener("beforeprint", function () {
        root.dataset.screen = root.dataset.theme;
        root.dataset.theme = "light";
        body.style.width = "700px";
        tabs.forEach(function (tab) {
            tab.hid = tab.room.hidden;
            tab.room.hidden = false;
            draw(tab.part, tab.panel);
        });
        resized();
    });
    addEventListener("afterprint", function () {
        root.dataset.theme = root.dataset.screen;
        body.style.width = "";
        tabs.forEach(tab => { tab.room.hidden = tab.hid; });
        resized();
    });

    /* A merged file has no complete process, only the table of all. */
    function showAlone() {
        vt.index = 0;
        document.title = data.job.many + " - vramtrace";
        const [element, start] = section(vt.parts.find(part => part.id === "job"));
        body.append(vt.el("header", { id: "head" }, bar()), vt.el("main", null, element), footer(), chosen);
        start();
    }

    vt.data = data;
    vt.showProcess = show;
    if (data.processes.length)
        show(0);
    else
        showAlone();
    const wanted = data.site ? vt.page.sites.findIndex(site => site.site.startsWith(data.site.toLowerCase())) : -1; // --site
    if (wanted >= 0) {
        vt.select({ site: wanted });
        vt.open("table", true);
    }
    if (location.hash && document.getElementById(location.hash.slice(1)))
        vt.open(location.hash.slice(1), true);
}());
