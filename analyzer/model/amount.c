/* SPDX-License-Identifier: MIT */
/*
 * The amount of a leak (see amount.h).
 */
#include "amount.h"

/* Whether the memory held at the last allocation counts: most of it was freed only later. */
static bool counts_as_held(const struct vt_site *site, const struct vt_leak *leak) {
    if (!leak) /* a site growing within its bound is in no leak, but kept its memory as well */
        return site->bound && site->bound->growth && site->live_count * 2 < site->held_count;
    return (leak->verdict == VT_VERDICT_GROWING || leak->verdict == VT_VERDICT_SUSPECT) &&
           (leak->live_count * 2 < leak->held_count || site->live_count * 2 < site->held_count);
}

/* The blocks that a site had kept at the last allocation. If a site keeps few of its blocks, its newest ones were
 * probably about to be freed like most others. So this is the growth's count, which leaves out the youngest blocks. */
static uint64_t kept(const struct vt_site *site) {
    uint64_t grown = site->growth ? site->growth->blocks : 0;
    bool few = grown && grown < site->held_count && site->held_count * 4 < site->alloc_count;
    return few && grown >= site->live_count ? grown : site->held_count;
}

struct vt_amount vt_amount_of_site(const struct vt_site *site, const struct vt_leak *leak) {
    bool kept_by_test = leak && site->tested && site->tested->fails;
    if ((!counts_as_held(site, leak) && !kept_by_test) || site->held_count <= site->live_count)
        return (struct vt_amount){site->live_bytes, site->live_count, 0, false};
    uint64_t blocks = kept(site), others = site->held_count - blocks;
    uint64_t each = site->held_bytes / site->held_count;
    return (struct vt_amount){site->held_bytes - others * each, blocks, blocks - site->live_count,
                              site->at_exit};
}

void vt_amount_add(struct vt_amount *sum, struct vt_amount part) {
    sum->bytes += part.bytes;
    sum->blocks += part.blocks;
    sum->freed += part.freed;
    sum->at_exit |= part.at_exit;
}

const char *vt_amount_freed(struct vt_amount amount) {
    return amount.at_exit ? "freed only at exit" : "freed only after the last allocation";
}

struct vt_amount vt_amount_of_leak(const struct vt_process *p, const struct vt_leak *leak) {
    struct vt_amount sum = {0};
    for (uint32_t i = 0; i < leak->site_count; i++)
        vt_amount_add(&sum, vt_amount_of_site(&p->sites[leak->sites[i]], leak));
    return sum;
}

uint64_t vt_amount_leaked(const struct vt_process *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->leak_count; i++)
        sum += vt_amount_of_leak(p, &p->leaks[i]).bytes;
    return sum;
}

char *vt_amount_text(struct vt_amount amount) {
    struct vt_string text = {0};
    vt_string_format(&text, "%s in %s block%s", VT_BYTES(amount.bytes), VT_NUMBER(amount.blocks),
                     vt_plural(amount.blocks));
    if (amount.freed && amount.freed == amount.blocks)
        vt_string_format(&text, ", %s", vt_amount_freed(amount));
    else if (amount.freed)
        vt_string_format(&text, ", %s of them %s", VT_NUMBER(amount.freed),
                         vt_amount_freed(amount));
    return text.text;
}

void vt_inconclusive_add(struct vt_inconclusive_sum *sum, const struct vt_site *site) {
    sum->sites++;
    sum->bytes += site->held_bytes;
    sum->reasons |= 1u << site->inconclusive;
}

struct vt_inconclusive_sum vt_process_inconclusive(const struct vt_process *p) {
    struct vt_inconclusive_sum sum = {0};
    for (uint32_t i = 0; i < p->site_count; i++)
        if (vt_site_is_inconclusive(&p->sites[i]) && !p->sites[i].library_own)
            vt_inconclusive_add(&sum, &p->sites[i]);
    return sum;
}

/* Adds ": too few iterations, or may be loaded weights". */
static void say_reasons(const struct vt_inconclusive_sum *sum, struct vt_string *text) {
    const char *before = ": ";
    for (unsigned i = VT_RULE_NONE + 1; i < VT_GROWTH_RULES; i++)
        if (sum->reasons >> i & 1) {
            vt_string_format(text, "%s%s", before, vt_growth_rules[i].in_short);
            before = ", or ";
        }
}

char *vt_inconclusive_text(const struct vt_inconclusive_sum *sum, const char *were) {
    struct vt_string text = {0};
    vt_string_format(&text, "%u site%s (%s) %snot judged", sum->sites, vt_plural(sum->sites),
                     VT_BYTES(sum->bytes), were);
    say_reasons(sum, &text);
    return text.text;
}

char *vt_suspects_text(const struct vt_inconclusive_sum *sum) {
    struct vt_string text = {0};
    vt_string_format(&text, "%u suspect%s (%s)", sum->sites, vt_plural(sum->sites),
                     VT_BYTES(sum->bytes));
    say_reasons(sum, &text);
    return text.text;
}
