/* SPDX-License-Identifier: MIT */
/*
 * The answer in words: the sentences of the text report, each leak with its owners, each device with its memory at
 * the peak. A card for each, with links to the pictures.
 */
"use strict";

(function () {
    /* Where the sentences come from has verdicts' letters; these are their colours. */
    const colours = { L: "leak", X: "v-lost", S: "v-suspect", U: "v-unfreed", "#": "line-0", c: "idle", r: "runtime", u: "untracked", o: "host" };

    function siteButton(index, text) {
        const id = vt.page.sites[index].site.slice(0, vt.data.id_digits);
        const open = () => { vt.select({ site: index }); vt.open("table", true); };
        return vt.link([text === id ? null : text + " ", vt.el("code", null, id)], open,
            { title: "its stacks and pictures" });
    }

    function row([kind, label, text, source, bytes, site]) {
        const value = vt.el("dd", { class: kind });
        if (bytes != null)
            value.append(vt.el("b", null, vt.bytes(bytes)), "  ");
        if (kind === "caller")
            value.append("called by ");
        value.append(site != null ? siteButton(site, text) : kind === "source" || label === "" && text.includes("→")
            ? vt.el("code", null, text) : text);
        if (source)
            value.append(vt.el("code", { class: "source" }, source));
        return [vt.el("dt", null, label), value];
    }

    /* Links from a card to the pictures. */
    function links(block) {
        const list = [], sites = block.sites && block.sites.length;
        const show = (text, choice, part) => list.push(vt.button(text, () => { vt.select(choice); vt.open(part, part !== "time"); }));
        if (sites && vt.page.courses.length)
            show("over time", { site: block.sites[0] }, "time");
        if (sites)
            show("in the flame graph", { site: block.sites[0] }, "flame");
        if (block.at != null && vt.page.maps.length)
            show("addresses then", { time: block.at }, "addresses");
        if (block.kind === "held" && vt.page.sites.length)
            show("the lines", {}, "table");
        return list.length ? vt.el("p", { class: "links" }, "show ", list) : null;
    }

    function bar(block) {
        const track = vt.el("div", { class: "parts" });
        const list = vt.el("ul", { class: "legend" });
        for (const [letter, name, bytes, text, purposes] of block.parts) {
            const share = block.whole ? bytes / block.whole * 100 : 0, free = letter === ".";
            const background = "background: " + (colours[letter] ? "var(--" + colours[letter] + ")" : "transparent");
            const words = (text ? text : "") + (purposes ? "; " + purposes : "");
            track.append(vt.el("div", {
                class: free ? "free" : null, title: name + " " + vt.bytes(bytes), style: "flex: " + share + (free ? " 0 0" : " 0 2px; " + background)
            }));
            list.append(vt.el("li", null, vt.el("i", { class: free ? "swatch free" : "swatch", style: background }), vt.el("b", null, name), " ",
                vt.bytes(bytes), " ", vt.el("span", { class: "dim" }, share >= 1 ? Math.round(share) + " %" : "<1 %", words ? "  " + words : "")));
        }
        return [track, list];
    }

    function card(block) {
        const rows = block.rows.map(row).flat();
        if (block.kind === "next")
            return vt.el("details", { class: "card next" }, vt.el("summary", null, "What to do next, in a terminal"),
                vt.el("dl", null, vt.terms(block.rows.map(([, label, text]) => [label, vt.el("code", null, text)]))));
        return vt.el("article", { class: "card " + block.kind + " " + block.tone },
            vt.el("h3", null, block.title ? vt.el("span", { class: "tag" }, block.title) : null, " ", block.headline || ""),
            block.parts && block.parts.length ? bar(block) : null,
            rows.length ? vt.el("dl", null, rows) : null,
            block.rows_left_out ? vt.aside("and " + vt.count(block.rows_left_out) + " more") : null,
            block.remark ? vt.aside(block.remark) : null, links(block));
    }

    vt.part({
        id: "words", title: "The answer", order: 1, tab: false, heading: false,
        draw: function (panel, page) {
            const notes = page.notes.map(note => vt.el("p", { class: "note" }, vt.el("b", null, "NOTE"), " ", note));
            const aside = page.complete && notes.length > 1;
            if (!aside)
                panel.append(...notes);
            if (page.brief)
                panel.append(vt.el("p", { class: "note" }, "With so many processes, this one is shown in brief: a report on its " +
                    "log alone has the pictures."));
            const told = page.words.filter(block => block.kind !== "device" && block.kind !== "next");
            panel.append(...told.map(card));
            if (aside)
                panel.append(vt.el("details", { class: "card next" }, vt.el("summary", null, vt.plural(notes.length, "note")), notes));
        },
    });

    vt.part({
        id: "devices", title: "Devices", order: 3, tab: false, heading: false,
        wanted: page => page.words.some(block => block.kind === "device" || block.kind === "next"),
        draw: function (panel, page) {
            panel.append(vt.el("div", { class: "cards" }, page.words.filter(block => block.kind === "device").map(card)),
                ...page.words.filter(block => block.kind === "next").map(card));
        },
    });
}());
