/* SPDX-License-Identifier: MIT */
/*
 * Names of the ways by which memory is held (see owner_names.h).
 *
 * The steps of the log make trees. They are merged into smaller trees of *ways*: steps that an author
 * would not tell apart. Which indices a way stands for is known at the end, so texts are made then.
 */
#include "owner_names.h"

#include "owner_steps.h"
#include "roles.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 }; /* ways; what lies deeper belongs to the last */

struct way {
    uint32_t parent; /* VT_MAP_NONE: a root */
    uint16_t kind;   /* enum vt_step */
    uint8_t depth;
    bool many;             /* it stands for several indices or keys */
    bool hidden;           /* no part of the name: a module's `_modules` */
    bool inside;           /* behind the end of the name: inside a library's object */
    bool repeats;          /* the same step follows it again and again */
    bool graph;            /* the first node of an autograd graph */
    bool may_be_unused;    /* a variable: by slots that may not be in use */
    bool mixed, inner;     /* it leads to several classes; to a frame, or goes through one */
    enum vt_weak leads_to; /* a variable, of which a step is in doubt */
    uint32_t line;
    uint32_t objects;                /* that it leads to, at most, at any snapshot; 0: unknown */
    uint64_t address, inside_module; /* a variable; an address that is in its module for certain */
    const char *name;                /* as in the log; points into `texts` */
    const char *type;                /* "" unknown */
    const char *core;                /* the name up to here; NULL: not made yet */
    const char *relation, *of;       /* "local", "f()": what the name is of; NULL: of nothing */
    const char *whole;               /* both in one; likewise */
};

struct vt_owner_names {
    const struct vt_log *log;
    struct vt_symbols *symbols;
    struct way *ways;
    size_t way_count, way_room;
    struct vt_map known;   /* hash -> way */
    struct vt_map doubted; /* addresses of variables, of which some words lead nowhere */
    struct vt_map unused;  /* likewise, of which some slots may not be in use */
    uint32_t *way_of;      /* by step; VT_MAP_NONE: no root */
    uint32_t *graph_of;    /* by step: the first of its way that is a graph's; VT_MAP_NONE: none */
    struct vt_root *roots; /* by way; of those that were asked for */
    bool *rooted;
    char **texts;
    size_t text_count, text_room;
};

static const char local[] = "local", unnamed[] = "(unnamed)";

static const char *keep_name(struct vt_owner_names *n, char *text) {
    return *VT_ADD(n->texts, n->text_count, n->text_room) = vt_printable(text);
}

/* --- merging steps --- */

/* A step on its way to become a way. */
struct merging {
    struct vt_owner_names *n;
    const struct vt_log_step *step;
    uint32_t parent;
    unsigned kind;
    const char *name;
    char *stripped; /* storage */
    uint64_t address;
    enum vt_weak leads_to;
    bool inside, may_be_unused;
};

/* A module's own dictionaries are left out, so their keys become attributes, and those that are
 * numbers become indices. */
static void rewrite(struct merging *m) {
    const struct way *parent = m->parent == VT_MAP_NONE ? NULL : &m->n->ways[m->parent];
    size_t length = strlen(m->name);
    if (!parent || !parent->hidden || m->kind != VT_STEP_KEY || length < 2 || m->name[0] != '\'')
        return;
    m->name = m->stripped = vt_strndup(m->name + 1, length - 2);
    m->kind = is_decimal(m->name) ? VT_STEP_INDEX : VT_STEP_ATTRIBUTE;
}

static bool same_step(const struct way *a, unsigned kind, const char *name) {
    return a->kind == kind && (is_number(kind, name) || !strcmp(a->name, name));
}

/* The way that a step repeats: the next node of a linked list, the child of a child. VT_MAP_NONE:
 * none. */
static uint32_t repeated(const struct merging *m) {
    const struct way *ways = m->n->ways, *up[3];
    uint32_t at = m->parent, count = 0, grandparent = VT_MAP_NONE;
    for (; at != VT_MAP_NONE && count < 3; at = ways[at].parent) {
        grandparent = count == 1 ? at : grandparent;
        up[count++] = &ways[at];
    }
    if (count && ways[m->parent].inside && ways[m->parent].graph)
        return m->parent; /* whatever hangs on a graph is the graph's */
    if (count && ways[m->parent].depth >= DEEPEST)
        return m->parent;
    if (count && m->inside && !strcmp(up[0]->type, m->step->type) && up[0]->inside)
        return m->parent;
    if (m->inside || m->step->kind == VT_STEP_CLASS)
        return VT_MAP_NONE;
    if (count && m->kind == VT_STEP_ATTRIBUTE && same_step(up[0], m->kind, m->name))
        return m->parent;
    if (count == 3 && (m->kind == VT_STEP_ATTRIBUTE || up[0]->kind == VT_STEP_ATTRIBUTE) &&
        same_step(up[1], m->kind, m->name) && same_step(up[2], up[0]->kind, up[0]->name))
        return grandparent;
    return VT_MAP_NONE;
}

static uint32_t find_way(const struct merging *m, uint64_t *key) {
    struct vt_owner_names *n = m->n;
    const struct vt_log_step *s = m->step;
    uint64_t inside = m->inside | m->may_be_unused << 1;
    uint64_t fixed[] = {m->parent, m->kind, inside, m->address,
                        m->kind == VT_STEP_FRAME ? s->line : 0};
    uint64_t hash = vt_hash_bytes(1, fixed, sizeof fixed);
    if (!is_number(m->kind, m->name) && !m->inside)
        hash = vt_hash_bytes(hash, m->name, strlen(m->name));
    if (m->inside || is_root(m->kind) || m->kind == VT_STEP_CLASS)
        hash = vt_hash_bytes(hash + 1, s->type, strlen(s->type));
    *key = hash;
    return vt_map_get(&n->known, hash);
}

static uint32_t add_way(struct merging *m) {
    struct vt_owner_names *n = m->n;
    uint64_t key;
    uint32_t index = find_way(m, &key);
    if (index != VT_MAP_NONE) {
        struct way *way = &n->ways[index];
        uint32_t objects = m->step->counts.objects;
        way->objects = objects > way->objects ? objects : way->objects;
        way->repeats |= m->step->repeats;
        way->many |= m->step->many || strcmp(way->name, m->name) != 0;
        way->mixed |= strcmp(way->type, m->step->type) != 0;
        return index;
    }
    index = (uint32_t)n->way_count;
    const char *name = keep_name(n, vt_strdup(m->name)),
               *type = keep_name(n, vt_class_text(m->step->type));
    VT_GROW(n->ways, n->way_count, n->way_room);
    n->ways[n->way_count++] = (struct way){
        .parent = m->parent,
        .kind = (uint16_t)m->kind,
        .depth = m->parent == VT_MAP_NONE ? 0 : (uint8_t)(n->ways[m->parent].depth + 1),
        .many = m->step->many,
        .repeats = m->step->repeats,
        .may_be_unused = m->may_be_unused,
        .hidden = !m->inside && is_of_modules(m->kind, m->name, m->step->type),
        .inside = m->inside,
        .graph = m->inside && vt_roles_is_graph_node(m->kind, type),
        .line = m->step->line,
        .objects = m->step->counts.objects,
        .address = m->address,
        .inside_module = m->step->address - (m->kind == VT_STEP_THREAD_LOCAL ? m->step->line : 0),
        .name = name,
        .type = type,
    };
    vt_map_put(&n->known, key, index);
    return index;
}

/* An attribute that a program gave to a tensor: weight.main_grad. A gradient is called by the tensor. */
static bool is_of_tensor(const struct merging *m, const struct vt_log_step *parent) {
    return parent && m->kind == VT_STEP_ATTRIBUTE && strcmp(m->name, "grad") != 0 &&
           (!strcmp(parent->type, "torch.Tensor") ||
            !strcmp(parent->type, "torch.nn.parameter.Parameter"));
}

/* Whether what a step leads to is behind the end of the name. */
static bool is_inside(const struct merging *m, const struct vt_log_step *parent) {
    if (m->parent == VT_MAP_NONE || (!m->n->ways[m->parent].inside && is_of_tensor(m, parent)))
        return false;
    return m->n->ways[m->parent].inside || m->kind == VT_STEP_CLASS ||
           (parent && vt_roles_is_memory(parent->type));
}

/* All words of one variable are one root. False: it keeps nothing. */
static bool find_variable(struct merging *m) {
    struct vt_variable_symbol variable;
    if (!vt_native_root_variable(m->n->log, m->n->symbols, m->step, &m->address, &variable))
        return true;
    m->leads_to = variable.leads_to;
    if (variable.no_way)
        vt_map_put(&m->n->doubted, m->address, 0);
    if (variable.may_be_unused)
        vt_map_put(&m->n->unused, m->address, 0);
    /* what stood around its word is not known: it is taken to be like the others */
    m->may_be_unused = m->step->around ? variable.may_be_unused
                                       : vt_map_get(&m->n->unused, m->address) != VT_MAP_NONE;
    return !variable.weak && !variable.no_way;
}

static void merge_step(struct vt_owner_names *n, uint32_t i) {
    const struct vt_log_step *step = &n->log->steps[i];
    const struct vt_log_step *parent =
        step->parent == VT_MAP_NONE ? NULL : &n->log->steps[step->parent];
    struct merging m = {.n = n,
                        .step = step,
                        .parent = parent ? n->way_of[step->parent] : VT_MAP_NONE,
                        .kind = step->kind,
                        .name = step->name,
                        .address = step->address};
    n->way_of[i] = VT_MAP_NONE;
    if (step->lost || (parent && m.parent == VT_MAP_NONE) || (!parent && !is_root(m.kind)) ||
        !find_variable(&m))
        return;
    rewrite(&m);
    m.inside = is_inside(&m, parent);
    uint32_t again = repeated(&m);
    n->way_of[i] = again == VT_MAP_NONE ? add_way(&m) : again;
    if (again != VT_MAP_NONE)
        n->ways[again].repeats = true;
    free(m.stripped);
    if (step->in_doubt)
        n->ways[n->way_of[i]].leads_to = m.leads_to;
}

/* A way comes to its first node of a graph where its parent's did, or with its last step. */
static void find_graph(struct vt_owner_names *n, uint32_t i) {
    const struct vt_log_step *step = &n->log->steps[i];
    n->graph_of[i] = VT_MAP_NONE;
    if (n->way_of[i] == VT_MAP_NONE)
        return;
    if (step->parent != VT_MAP_NONE)
        n->graph_of[i] = n->graph_of[step->parent];
    if (n->graph_of[i] == VT_MAP_NONE && n->ways[n->way_of[i]].graph && step->kind == VT_STEP_CLASS)
        n->graph_of[i] = i;
}

struct vt_owner_names *vt_owner_names_open(const struct vt_log *log, struct vt_symbols *symbols) {
    struct vt_owner_names *n = vt_alloc(1, sizeof *n);
    n->log = log;
    n->symbols = symbols;
    n->way_of = vt_alloc(log->step_count, sizeof *n->way_of);
    n->graph_of = vt_alloc(log->step_count, sizeof *n->graph_of);
    for (uint32_t i = 0; i < log->step_count; i++)
        merge_step(n, i);
    for (uint32_t i = 0; i < log->step_count; i++)
        find_graph(n, i);
    n->roots = vt_alloc(n->way_count, sizeof *n->roots);
    n->rooted = vt_alloc(n->way_count, sizeof *n->rooted);
    return n;
}

void vt_owner_names_close(struct vt_owner_names *n) {
    if (!n)
        return;
    vt_free_texts(n->texts, n->text_count);
    free(n->ways);
    free(n->way_of);
    free(n->graph_of);
    free(n->roots);
    free(n->rooted);
    vt_map_free(&n->known);
    vt_map_free(&n->doubted);
    vt_map_free(&n->unused);
    free(n);
}

/* --- roots --- */

/* The file of the script that runs: Python forgets it, as its module's __file__, when the script's code
 * has ended. */
static const char *script_of(struct vt_owner_names *n, const char *module) {
    char *path = strcmp(module, "__main__") ? NULL : vt_log_script(n->log);
    return path ? keep_name(n, path) : NULL;
}

static const struct vt_root *root_of(struct vt_owner_names *n, uint32_t index) {
    static const enum vt_root_kind kinds[] = {
        [VT_STEP_MODULE] = VT_ROOT_MODULE,
        [VT_STEP_FRAME] = VT_ROOT_FRAME,
        [VT_STEP_EXCEPTION] = VT_ROOT_EXCEPTION,
        [VT_STEP_GLOBAL] = VT_ROOT_GLOBAL,
        [VT_STEP_THREAD_LOCAL] = VT_ROOT_THREAD_LOCAL,
        [VT_STEP_NATIVE_STACK] = VT_ROOT_NATIVE_STACK,
        [VT_STEP_INTERPRETER] = VT_ROOT_INTERPRETER,
        [VT_STEP_CYCLE] = VT_ROOT_CYCLE,
    };
    while (n->ways[index].parent != VT_MAP_NONE)
        index = n->ways[index].parent;
    struct vt_root *root = &n->roots[index];
    const struct way *way = &n->ways[index];
    if (n->rooted[index])
        return root;
    n->rooted[index] = true;
    root->kind = kinds[way->kind];
    switch (root->kind) {
    case VT_ROOT_MODULE:
        root->module = text_or_null(way->name);
        root->file = way->type[0] ? way->type : script_of(n, way->name);
        break;
    case VT_ROOT_FRAME:
        root->function = text_or_null(way->name);
        root->file = text_or_null(way->type);
        root->line = way->line;
        break;
    case VT_ROOT_GLOBAL:
    case VT_ROOT_THREAD_LOCAL:
    case VT_ROOT_NATIVE_STACK:
        vt_native_root_fill(n->log, n->symbols, way->kind, way->address, way->inside_module, root);
        root->module = root->module ? keep_name(n, vt_strdup(root->module)) : NULL;
        if (!root->what && way->name[0])
            root->what = way->name;
        break;
    default:
        root->what = text_or_null(way->name);
    }
    return root;
}

/* --- texts --- */

/* A step as it stands in a name: ".weight", "[*]", "['k']". Free it. */
static char *step_text(const struct way *way) {
    switch (way->kind) {
    case VT_STEP_KEY:
    case VT_STEP_INDEX:
        return way->many || !way->name[0] ? vt_strdup("[*]") : vt_formatted("[%s]", way->name);
    case VT_STEP_ITEM:
        return vt_strdup("{*}");
    case VT_STEP_ATTRIBUTE:
        return vt_formatted(".%s%s", way->many || !way->name[0] ? "*" : way->name,
                            way->repeats ? "…" : "");
    default:
        return vt_strdup(way->many || !way->name[0] ? "*" : way->name);
    }
}

/* Makes the name up to a way. Depth is bounded, so this may call itself. */
static void make_name(struct vt_owner_names *n, uint32_t index) {
    struct way *way = &n->ways[index];
    if (way->core)
        return;
    if (way->parent == VT_MAP_NONE) {
        way->core = root_text(root_of(n, index));
        return;
    }
    make_name(n, way->parent);
    const struct way *parent = &n->ways[way->parent];
    const char *of = parent->core[0] ? parent->core : "a frame";
    VT_SCOPED char *text = step_text(way);
    way->relation = parent->relation;
    way->of = parent->of;
    way->inner = parent->inner || way->kind == VT_STEP_FRAME;
    if (way->hidden || way->inside) {
        way->core = parent->core;
    } else if (way->kind == VT_STEP_FRAME) {
        way->core = "";
        way->relation = local;
        way->of = keep_name(n, vt_formatted("%s()", way->name));
    } else if (way->kind == VT_STEP_NAME) {
        way->core = keep_name(n, vt_strdup(text));
        if (parent->parent != VT_MAP_NONE && parent->kind != VT_STEP_FRAME) {
            way->inner = true;
            way->relation = local;
            way->of = of;
        }
    } else if (way->kind == VT_STEP_CLOSURE || way->kind == VT_STEP_DEFAULT) {
        way->core = keep_name(n, vt_strdup(text));
        way->relation = way->kind == VT_STEP_CLOSURE ? "closure" : "default argument";
        way->of = of;
    } else {
        way->core = keep_name(
            n, vt_formatted("%s%s%s", parent->core,
                            parent->repeats && parent->kind != VT_STEP_ATTRIBUTE ? "…" : "",
                            parent->core[0] || text[0] != '.' ? text : text + 1));
    }
}

static const char *whole_name(struct vt_owner_names *n, uint32_t index) {
    make_name(n, index);
    struct way *way = &n->ways[index];
    const char *core = way->core[0] ? way->core : unnamed;
    if (!way->whole)
        way->whole = way->of
                         ? keep_name(n, vt_formatted("%s (%s of %s)", core, way->relation, way->of))
                         : core;
    return way->whole;
}

static struct vt_owner_step step_of(struct vt_owner_names *n, uint32_t index) {
    const char *whole = whole_name(n, index);
    const struct way *way = &n->ways[index];
    return (struct vt_owner_step){.id = index,
                                  .name = whole,
                                  .length = (uint32_t)strlen(way->core[0] ? way->core : unnamed),
                                  .local_of = way->relation == local ? way->of : NULL};
}

/* --- the answers --- */

/* The last way that is part of the name. */
static uint32_t name_end(const struct vt_owner_names *n, uint32_t index) {
    while (n->ways[index].inside || n->ways[index].hidden)
        index = n->ways[index].parent;
    return index;
}

uint32_t vt_owner_names_of(const struct vt_owner_names *n, uint32_t step) {
    return n->way_of[step] == VT_MAP_NONE ? VT_MAP_NONE : name_end(n, n->way_of[step]);
}

static uint32_t root_way(const struct vt_owner_names *n, uint32_t step) {
    uint32_t way = n->way_of[step];
    for (uint32_t up = way; up != VT_MAP_NONE; up = n->ways[up].parent)
        way = up;
    return way;
}

static const struct vt_log_step *root_step(const struct vt_owner_names *n, uint32_t step) {
    return &n->log->steps[n->log->steps[step].root];
}

bool vt_owner_names_in_doubt(const struct vt_owner_names *n, uint32_t step) {
    return root_step(n, step)->in_doubt;
}

/* Whether it is not known what stood around a word, of a variable of which others lead nowhere. */
static bool is_doubted(const struct vt_owner_names *n, uint32_t step) {
    return !root_step(n, step)->around &&
           vt_map_get(&n->doubted, n->ways[root_way(n, step)].address) != VT_MAP_NONE;
}

uint32_t vt_owner_names_settle(const struct vt_owner_names *n, uint32_t first,
                               const uint32_t others[VT_OWNED_OTHERS]) {
    uint32_t one = VT_MAP_NONE;
    bool several = false;
    for (int i = -1; i < (int)VT_OWNED_OTHERS; i++) {
        uint32_t step = i < 0 ? first : others[i];
        uint32_t root = step == VT_MAP_NONE ? VT_MAP_NONE : root_way(n, step);
        if (root == VT_MAP_NONE || is_doubted(n, step))
            continue;
        if (!vt_owner_names_in_doubt(n, step) || n->ways[root].leads_to == VT_WEAK_NONE)
            return step;
        if (n->ways[root].leads_to != VT_WEAK_MAYBE)
            continue;
        several |= one != VT_MAP_NONE && root_way(n, one) != root;
        one = one == VT_MAP_NONE ? step : one;
    }
    return several ? VT_MAP_NONE : one;
}

/* The first way behind the root: the variable. */
static uint32_t variable_of(const struct vt_owner_names *n, uint32_t index) {
    while (n->ways[index].parent != VT_MAP_NONE &&
           n->ways[n->ways[index].parent].parent != VT_MAP_NONE)
        index = n->ways[index].parent;
    return index;
}

enum vt_purpose vt_owner_names_purpose(const struct vt_owner_names *n, uint32_t step,
                                       unsigned roles) {
    enum vt_purpose purpose = vt_roles_seen(roles);
    uint32_t way = n->way_of[step];
    if (purpose != VT_PURPOSE_OTHER || way == VT_MAP_NONE)
        return purpose;
    purpose = vt_roles_named(n->ways[variable_of(n, way)].name);
    /* what hooks and checkpoints keep for the backward pass is no saved tensor */
    for (uint32_t at = way; at != VT_MAP_NONE && purpose == VT_PURPOSE_OTHER;
         at = n->ways[at].parent)
        purpose = n->ways[at].graph ? VT_PURPOSE_ACTIVATIONS : VT_PURPOSE_OTHER;
    for (; way != VT_MAP_NONE && purpose == VT_PURPOSE_OTHER; way = n->ways[way].parent)
        if (!is_root(n->ways[way].kind))
            purpose = vt_roles_classed(n->ways[way].type);
    return purpose;
}

/* Whether a way leads to the items of a container that may grow. A tuple is made with what is in it. */
static bool is_of_container(const struct vt_owner_names *n, const struct way *way) {
    const struct way *parent = &n->ways[way->parent];
    bool unnamed = parent->kind == VT_STEP_MODULE || parent->kind == VT_STEP_FRAME;
    bool many = way->many || (way->kind == VT_STEP_ITEM && way->objects > 1); /* of a set */
    return many && !unnamed && !parent->hidden && strcmp(parent->type, "tuple") != 0;
}

/* What grows when more is held: the innermost container that many of them lie in; but of a container
 * of containers the one with more items: a list of rounds with the same few tensors each, a few
 * layers with a list each. */
static uint32_t holder_of(const struct vt_owner_names *n, uint32_t end) {
    const struct way *inner = NULL;
    for (uint32_t at = end; n->ways[at].parent != VT_MAP_NONE; at = n->ways[at].parent) {
        const struct way *way = &n->ways[at];
        if (!is_of_container(n, way))
            continue;
        if (inner && (!way->objects || way->objects <= inner->objects / way->objects))
            break;
        inner = way;
    }
    return inner ? inner->parent : end;
}

static const char *known_type(const struct way *way) {
    return way->mixed || is_root(way->kind) ? NULL : text_or_null(way->type);
}

/* Counts the graphs that begin where a step's way comes to its first node. */
static void count_graphs(const struct vt_owner_names *n, uint32_t step,
                         struct vt_memory_owner *owner) {
    if (n->graph_of[step] == VT_MAP_NONE)
        return;
    const struct vt_log_step *first = &n->log->steps[n->graph_of[step]];
    owner->graphs = first->counts.objects > 1 ? first->counts.objects : first->counts.row;
    owner->graph_chain = first->counts.objects == 1 && first->repeats ? first->counts.length : 0;
}

/* The steps from the root's variable to the memory. */
static void fill_path(struct vt_owner_names *n, uint32_t index, uint32_t end, uint32_t holder,
                      struct vt_memory_owner *owner) {
    uint32_t list[DEEPEST + 8], count = 0;
    for (uint32_t at = index; at != VT_MAP_NONE && count < DEEPEST + 4; at = n->ways[at].parent)
        list[count++] = at;
    const char **path = vt_alloc(2 * (count + 2), sizeof *path), **types = path + count + 2;
    struct vt_owner_step *steps = vt_alloc(count + 2, sizeof *steps);
    uint32_t length = 0;
    owner->longer = n->ways[index].repeats;
    for (uint32_t i = count; i-- > 0;) {
        const struct way *way = &n->ways[list[i]];
        const char *type = known_type(way);
        bool root = way->parent == VT_MAP_NONE;
        if (way->hidden || (way->inside && is_number_class(way->type)) ||
            (root && !root_text(root_of(n, list[i]))[0]))
            continue;
        if (way->inside) {
            owner->graph = way->graph ? keep_name(n, vt_class_short(way->type)) : owner->graph;
            path[length] = way->type[0] ? keep_name(n, vt_class_short(way->type))
                                        : keep_name(n, step_text(way));
        } else if (root) {
            path[length] = root_text(root_of(n, list[i]));
        } else {
            path[length] = keep_name(n, step_text(way));
        }
        steps[length] = step_of(n, list[i]);
        types[length++] = type;
        if (list[i] == holder)
            owner->holder_count = length;
        if (list[i] != end)
            continue;
        owner->name_count = length;
        bool more = end != index && !is_number_class(n->ways[index].type);
        if (type && (more || vt_roles_is_memory(type))) {
            path[length] = keep_name(n, vt_class_short(type));
            types[length++] = type;
        }
    }
    *VT_ADD(n->texts, n->text_count, n->text_room) = (char *)path; /* freed with the texts */
    *VT_ADD(n->texts, n->text_count, n->text_room) = (char *)steps;
    owner->path = path;
    owner->steps = steps;
    owner->types = types;
    owner->path_count = length;
}

/* An exception keeps frames: the function of the one that a way goes through. */
static const char *frame_function(const struct vt_owner_names *n, uint32_t index) {
    for (; index != VT_MAP_NONE; index = n->ways[index].parent)
        if (n->ways[index].kind == VT_STEP_FRAME)
            return text_or_null(n->ways[index].name);
    return NULL;
}

void vt_owner_names_fill(struct vt_owner_names *n, uint32_t step, struct vt_memory_owner *owner) {
    uint32_t index = n->way_of[step], end = name_end(n, index), holder = holder_of(n, end);
    const struct vt_root *root = root_of(n, end);
    owner->name = whole_name(n, end);
    owner->is_local_of_another = n->ways[end].inner;
    owner->root = *root;
    if (root->kind == VT_ROOT_EXCEPTION)
        owner->root.function = frame_function(n, end);
    vt_owner_hold_by(owner, step_of(n, holder), known_type(&n->ways[holder]));
    owner->may_be_unused = n->ways[root_way(n, step)].may_be_unused;
    owner->variable = variable_of(n, end) * VT_PURPOSES + owner->purpose;
    fill_path(n, index, end, holder, owner);
    count_graphs(n, step, owner);
    const char *parts[] = {vt_root_names[root->kind],
                           root->module ? vt_basename(root->module) : NULL, /* built elsewhere */
                           root->function,
                           root->file ? vt_basename(root->file) : NULL,
                           owner->name,
                           vt_purpose_names[owner->purpose]};
    owner->id = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        owner->id =
            vt_hash_bytes(owner->id + 1, parts[i] ? parts[i] : "", parts[i] ? strlen(parts[i]) : 0);
    if (owner->may_be_unused)
        owner->id = vt_mix(owner->id);
    snprintf(owner->key, sizeof owner->key, "%016llx", (unsigned long long)owner->id);
}
