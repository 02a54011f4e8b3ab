/* SPDX-License-Identifier: MIT */
/*
 * The steps of paths, each stored once, and the records of the steps that hold memory.
 *
 * Edges that differ only in an index share one step: a list of ten thousand tensors is `history[*]`. The repeated steps
 * of a cyclic path are also one step: a linked list of any length is `node.next`, and a graph's nodes are one step per
 * class. So there are few paths, however many objects there are.
 *
 * Called by walk.c.
 */
#define _GNU_SOURCE
#include "owners.h"

#include <string.h>

#define AROUND_MOST 16u /* steps searched backwards for a repetition */
#define REPEATS     3u  /* a step that occurs this often is a repetition */
#define ON_PATH     64u /* steps searched for the nearest node with another owner */

static uint64_t mix_hash(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static uint64_t hash_text(uint64_t h, const char *text, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
    return h;
}

static const char *text_at(const struct vt_owners *w, uint32_t offset) {
    return (const char *)w->texts.at + offset;
}

static uint32_t keep_text(struct vt_owners *w, struct vt_owners_text text) {
    uint32_t at = (uint32_t)w->texts.used;
    void *to = vt_owners_push(w, &w->texts, text.bytes);
    if (to && text.bytes)
        memcpy(to, text.at, text.bytes);
    return at;
}

static struct vt_owners_text cut_text(struct vt_owners_text text) {
    if (text.bytes > VT_OWNERS_TEXT_MOST)
        for (text.bytes = VT_OWNERS_TEXT_MOST;
             text.bytes && ((uint8_t)text.at[text.bytes] & 0xc0) == 0x80; text.bytes--)
            ;
    return text;
}

/* Whether two steps are alike, apart from their parents. */
static bool is_alike(const struct vt_owners *w, const struct vt_path_step *s,
                     const struct vt_path_step *other, const char *name) {
    return s->kind == other->kind && s->type == other->type && s->class_ == other->class_ &&
           s->indexed == other->indexed && s->address == other->address && s->line == other->line &&
           !((s->flags ^ other->flags) & VT_STEP_IN_DOUBT) && s->name_bytes == other->name_bytes &&
           memcmp(text_at(w, s->name), name, s->name_bytes) == 0;
}

/* The last step like this one on the path, if the path contains several and so is cyclic; else 0. */
static uint32_t step_around(const struct vt_owners *w, const struct vt_path_step *as,
                            const char *name) {
    uint32_t seen = 0, last = 0, at = as->parent;
    for (uint32_t i = 0; i < AROUND_MOST && at; i++) {
        struct vt_path_step *s = vt_step_at(w, at);
        if (is_alike(w, s, as, name)) {
            last = last ? last : at;
            if (as->kind == VT_STEP_CLASS || ++seen == REPEATS) {
                vt_step_at(w, last)->flags |= VT_STEP_REPEATS;
                return last;
            }
        }
        at = s->parent;
    }
    return 0;
}

static uint32_t *slot_of(const struct vt_owners *w, const struct vt_path_step *as,
                         struct vt_owners_text name) {
    uint64_t hash = mix_hash(
        mix_hash(mix_hash(as->parent, as->type), (uint64_t)as->kind << 32 | as->class_), as->line);
    hash = mix_hash(hash_text(hash, name.at, name.bytes), as->address);
    return &w->step_slots[hash & (w->step_slot_count - 1)];
}

/* An existing step like `as`; 0: none. */
static uint32_t find_step(const struct vt_owners *w, uint32_t at, const struct vt_path_step *as,
                          const char *name) {
    for (; at; at = vt_step_at(w, at)->next) {
        struct vt_path_step *s = vt_step_at(w, at);
        if (s->parent != as->parent || !is_alike(w, s, as, name))
            continue;
        if (s->index != as->index || as->flags & VT_STEP_MANY)
            s->flags |= VT_STEP_MANY;
        break;
    }
    return at;
}

static uint32_t keep_step(struct vt_owners *w, uint32_t *slot, struct vt_path_step as,
                          struct vt_owners_text name, struct vt_owners_text type) {
    as.name = keep_text(w, name);
    as.root_type = keep_text(w, type);
    as.root_type_bytes = (uint8_t)type.bytes;
    struct vt_path_step *s = w->stopped ? NULL : vt_owners_push(w, &w->steps, sizeof *s);
    if (!s)
        return 0;
    as.next = *slot;
    *s = as;
    return *slot = w->step_count++;
}

uint32_t vt_owners_step_as(struct vt_owners *w, struct vt_path_step as, struct vt_owners_text name,
                           struct vt_owners_text type, bool may_go_around) {
    name = cut_text(name);
    as.name_bytes = (uint8_t)name.bytes;
    uint32_t *slot = slot_of(w, &as, name), known = find_step(w, *slot, &as, name.at);
    if (!known && may_go_around)
        known = step_around(w, &as, name.at);
    return known ? known : keep_step(w, slot, as, name, cut_text(type));
}

uint32_t vt_owners_root_step(struct vt_owners *w, const struct vt_root *root) {
    struct vt_path_step as = {.kind = (uint16_t)root->kind,
                              .flags = (root->in_doubt ? VT_STEP_IN_DOUBT : 0) |
                                       (root->many ? VT_STEP_MANY : 0),
                              .line = root->line,
                              .address = root->address,
                              .word = root->word,
                              .last = root->last,
                              .reference = root->reference};
    uint32_t step = vt_owners_step_as(w, as, root->name, root->type, false);
    uintptr_t *word = step ? &vt_step_at(w, step)->word : NULL;
    if (word && root->word && *word != root->word)
        *word = *word ? VT_WORDS : root->word;
    return step;
}

uint32_t vt_owners_step(struct vt_owners *w, uint32_t parent, const struct vt_edge *edge,
                        uint64_t type, uint16_t class_) {
    bool one_of_many = edge->kind == VT_STEP_KEY && w->many_keys;
    struct vt_owners_text none = {0}, name = edge->indexed || one_of_many ? none : edge->name;
    struct vt_path_step as = {.parent = parent,
                              .kind = (uint16_t)edge->kind,
                              .flags = one_of_many ? VT_STEP_MANY : 0,
                              .type = type,
                              .class_ = class_,
                              .indexed = edge->indexed || one_of_many,
                              .index = edge->indexed && !one_of_many ? edge->index : 0};
    return vt_owners_step_as(w, as, name, none, !edge->plain);
}

void vt_owners_capacity(struct vt_owners *w, uint64_t entries, uint64_t capacity) {
    struct vt_path_step *s = w->step && !w->roles_only ? vt_step_at(w, w->step) : NULL;
    if (!s || s->kind < VT_STEP_NAME || s->kind == VT_STEP_CLASS || entries > capacity ||
        capacity > UINT32_MAX - s->capacity)
        return;
    s->entries += (uint32_t)entries;
    s->capacity += (uint32_t)capacity;
    s->limited++;
}

/* --- repetitions --- */

/* A node's position on the path through a graph. */
struct position {
    uint32_t row, length;
};

/* Stores in `line` how many objects each step stands for; CLASS steps store more. Nodes are in the order in which they
 * were reached, so a node's parent already has its position. If memory runs out, chains are not counted. */
static void count_objects(struct vt_owners *w) {
    uint32_t classes = 0;
    for (uint32_t i = 1; i < w->step_count; i++)
        classes += vt_step_at(w, i)->kind == VT_STEP_CLASS;
    struct position *at = classes ? vt_owners_map(w, (size_t)w->node_count * sizeof *at) : NULL;
    for (uint32_t i = 1; i < w->node_count; i++) {
        const struct vt_node *n = vt_node_at(w, i), *parent = vt_node_at(w, n->parent);
        struct vt_path_step *s = vt_step_at(w, n->step);
        if (s->kind != VT_STEP_CLASS)
            s->line += s->kind >= VT_STEP_NAME && !n->part;
        if (s->kind != VT_STEP_CLASS || !at || n->parent >= i)
            continue;
        if (n->part) {
            at[i] = at[n->parent];
            continue;
        }
        bool inside = vt_step_at(w, parent->step)->kind == VT_STEP_CLASS;
        at[i] = (struct position){1 + (parent->step == n->step ? at[n->parent].row : 0),
                                  1 + (inside ? at[n->parent].length : 0)};
        s->line += !inside;
        s->row = at[i].row > s->row ? at[i].row : s->row;
        s->length = at[i].length > s->length ? at[i].length : s->length;
    }
    for (uint32_t i = w->step_count; at && --i;) { /* a step's parent has a lower number */
        const struct vt_path_step *s = vt_step_at(w, i);
        struct vt_path_step *parent = vt_step_at(w, s->parent);
        if (s->kind == VT_STEP_CLASS && parent->kind == VT_STEP_CLASS && parent->length < s->length)
            parent->length = s->length;
    }
}

/* --- the answer --- */

void *vt_owners_reserve(struct vt_owners *w, size_t bytes) {
    if (w->answer->bytes + bytes > w->record_room) {
        w->stopped = true;
        return NULL;
    }
    void *at = w->records + w->answer->bytes;
    memset(at, 0, bytes);
    return at;
}

static uint32_t type_text(struct vt_owners *w, const struct vt_path_step *s, char *to,
                          uint32_t room) {
    if (s->root_type_bytes) {
        memcpy(to, text_at(w, s->root_type), s->root_type_bytes);
        return s->root_type_bytes;
    }
    if (!s->type)
        return 0;
    return s->class_ ? w->readers->class_name(w, s->type, s->class_, to, room)
                     : w->readers->python_type_name(w, (uintptr_t)s->type, to, room);
}

static uint32_t number_text(int64_t number, char *to) {
    char *at = to;
    if (number < 0)
        *at++ = '-';
    return (uint32_t)(vt_text_put_number(at, number < 0 ? -(uint64_t)number : (uint64_t)number) -
                      to);
}

/* The address in a step's record: see records.def. */
static uint64_t step_address(const struct vt_path_step *s) {
    if (s->kind == VT_STEP_CLASS)
        return vt_step_chain(s->row, s->length);
    if (s->limited && s->limited == s->line) /* only if every object has a limit */
        return vt_step_limit(s->entries, s->capacity);
    return s->address;
}

static uint32_t write_step(struct vt_owners *w, struct vt_path_step *s, uint32_t parent) {
    char type[VT_OWNERS_TEXT_MOST + 1], digits[32];
    const char *name = text_at(w, s->name);
    uint32_t name_bytes = s->name_bytes, type_bytes = type_text(w, s, type, VT_OWNERS_TEXT_MOST);
    if (s->indexed && !(s->flags & VT_STEP_MANY)) {
        name = digits;
        name_bytes = number_text(s->index, digits);
    }
    uint32_t bytes = (uint32_t)sizeof(struct vt_rec_step) + ((name_bytes + type_bytes + 7) & ~7u);
    struct vt_rec_step *r = vt_owners_reserve(w, bytes);
    if (!r)
        return 0;
    r->word = vt_word(VT_REC_STEP, 0, 0, bytes);
    r->number = ++w->answer->steps;
    r->parent = parent;
    r->kind = s->kind;
    r->flags = s->flags;
    r->line = s->line;
    r->address = step_address(s);
    r->name_bytes = name_bytes;
    r->type_bytes = type_bytes;
    memcpy(r + 1, name, name_bytes);
    memcpy((char *)(r + 1) + name_bytes, type, type_bytes);
    w->answer->bytes += bytes;
    if (s->word > VT_WORDS)
        vt_owners_write_around(w, s, r->number);
    return s->number = r->number;
}

/* Writes a step, and before it those that lead to it. Even a cyclic path has no loop of parents, because a step's
 * parent always has a lower number. */
static uint32_t number_of(struct vt_owners *w, uint32_t step) {
    for (;;) {
        uint32_t first = step; /* the outermost unwritten step */
        struct vt_path_step *s = vt_step_at(w, step);
        if (!step || s->number)
            return step ? s->number : 0;
        while (s->parent && !vt_step_at(w, s->parent)->number)
            s = vt_step_at(w, first = s->parent);
        uint32_t number = write_step(w, s, s->parent ? vt_step_at(w, s->parent)->number : 0);
        if (!number || first == step)
            return number;
    }
}

/* Whether `node` lies on the path to `from`: an edge from `from` to `node` is then not another owner. */
static bool is_on_path_to(const struct vt_owners *w, uint32_t node, uint32_t from) {
    for (uint32_t i = 0; i < 4 * ON_PATH && from; i++, from = vt_node_at(w, from)->parent)
        if (from == node)
            return true;
    return false;
}

/* Adds another path, if it is among the first that the walk found. The first have the best names. */
static uint32_t add_path(const struct vt_owners *w, uint32_t paths[VT_OWNED_OTHERS], uint32_t count,
                         uint32_t path) {
    for (uint32_t i = 0; i < count; i++)
        if (vt_other_at(w, paths[i])->step == vt_other_at(w, path)->step)
            return count;
    uint32_t at = count;
    while (at && paths[at - 1] > path)
        at--;
    if (at == VT_OWNED_OTHERS)
        return count;
    count += count < VT_OWNED_OTHERS;
    memmove(paths + at + 1, paths + at, (count - at - 1) * sizeof *paths);
    paths[at] = path;
    return count;
}

/* Collects other owners: other paths to the target, to the parts that lead to it, and to the object to which these
 * parts belong. If none is found there and that object is an attribute, continues with the object that has the
 * attribute. The collected paths end where they join the first. */
static uint32_t find_others(struct vt_owners *w, uint32_t target, uint32_t steps[VT_OWNED_OTHERS],
                            uint32_t *owners) {
    uint32_t paths[VT_OWNED_OTHERS] = {0}, found = 0, at = target,
             owner = vt_node_at(w, target)->step;
    *owners = 1;
    for (uint32_t i = 0; i < ON_PATH && at; i++, at = vt_node_at(w, at)->parent) {
        struct vt_node *n = vt_node_at(w, at);
        *owners += n->paths - 1u;
        for (uint32_t o = n->others; o; o = vt_other_at(w, o)->next) {
            if (is_on_path_to(w, at, vt_other_at(w, o)->from))
                --*owners;
            else if (vt_other_at(w, o)->step != owner)
                found = add_path(w, paths, found, o);
        }
        if (!n->part && (found || vt_step_at(w, n->step)->kind != VT_STEP_ATTRIBUTE))
            break;
    }
    for (uint32_t i = 0; i < found; i++)
        steps[i] = vt_other_at(w, paths[i])->step;
    return found;
}

/* How many bytes of an allocation PyTorch's tensors cover, if less than half: PyTorch's allocator alone never wastes so
 * much. 0: more, or unknown. It is known only if each reference to the storage comes from a reached tensor, or from the
 * base tensor of reached views to which nothing else refers. A flag in the base's reference count shows that the base
 * has a Python object, which counts as one reference if the base alone keeps it. */
static uint64_t part_seen(struct vt_owners *w, const struct vt_owners_target *t) {
    enum { OBJECT = 48 };
    uint64_t count = t->base ? vt_owners_word(w, t->base + 8) : 0, flag = count >> 63;
    bool alone = t->base && (uint32_t)count == t->views + flag &&
                 (!flag || (uint32_t)vt_owners_word(w, vt_owners_word(w, t->base + OBJECT)) == 1);
    bool all = t->references == t->tensors || (alone && t->references == t->tensors + 1);
    return all && t->seen < (t->end - t->start) / 2 ? t->seen : 0;
}

static uint32_t write_entries(struct vt_owners *w, const struct vt_owners_target *t,
                              struct vt_owned entries[2 + VT_OWNED_OTHERS]) {
    uint32_t steps[VT_OWNED_OTHERS], owners, count = 0, number,
                                             others = find_others(w, t->node, steps, &owners);
    const struct vt_node *n = vt_node_at(w, t->node);
    uint64_t part = part_seen(w, t);
    for (uint32_t i = 0; i <= others; i++) {
        number = number_of(w, i ? steps[i - 1] : n->step);
        if (!number)
            return count;
        entries[count++] = (struct vt_owned){
            .allocation = vt_lost_entry(t->start, vt_kind_space(t->kind)),
            .step = number,
            .roles = n->roles & (uint16_t) ~(VT_ROLE_MODULE | VT_ROLE_GROUPS),
            .holders = (uint16_t)(owners < UINT16_MAX ? owners : UINT16_MAX),
        };
        if (!i && part)
            entries[count++] = (struct vt_owned){.allocation = entries[0].allocation,
                                                 .roles = (uint16_t)(part >> 25),
                                                 .holders = (uint16_t)(part >> 9)};
    }
    return count;
}

static void write_owned(struct vt_owners *w, const struct vt_owned *entries, uint32_t count) {
    uint32_t bytes = (uint32_t)(sizeof(struct vt_rec_owned) + count * sizeof *entries);
    struct vt_rec_owned *r = count ? vt_owners_reserve(w, bytes) : NULL;
    if (!r)
        return;
    r->word = vt_word(VT_REC_OWNED, 0, 0, bytes);
    r->snapshot = w->snapshot;
    r->count = count;
    memcpy(r + 1, entries, count * sizeof *entries);
    w->answer->bytes += bytes;
}

void vt_owners_write(struct vt_owners *w) {
    enum { MOST = 256 };
    struct vt_owned *entries = vt_owners_map(w, MOST * sizeof *entries);
    uint32_t count = 0;
    count_objects(w);
    for (uint32_t i = 0; entries && i < w->target_count; i++) {
        const struct vt_owners_target *t = &w->targets[i];
        if (!t->node)
            continue;
        uint32_t added = write_entries(w, t, entries + count);
        w->answer->owned += added > 0;
        count += added;
        if (count + 2 + VT_OWNED_OTHERS > MOST) {
            write_owned(w, entries, count);
            count = 0;
        }
    }
    if (entries)
        write_owned(w, entries, count);
}
