/* SPDX-License-Identifier: MIT */
/*
 * Names of the paths to memory (see owner_names.h).
 *
 * The steps of the log form trees. They are merged into smaller trees of *paths*: steps that an author would not
 * distinguish share one. The indices of a path are known only at the end, so texts are made then.
 */
#include "owner_names.h"

#include "owner_steps.h"
#include "roles.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 }; /* paths; deeper steps belong to the last one */

struct path {
    uint32_t parent; /* VT_MAP_NONE: a root */
    uint16_t kind;   /* enum vt_step */
    uint8_t depth;
    bool many;             /* it stands for several indices or keys */
    bool hidden;           /* not part of the name: a module's `_modules` */
    bool inside;           /* after the end of the name: inside a library's object */
    bool repeats;          /* the same step follows repeatedly */
    bool graph;            /* the first node of an autograd graph */
    bool may_be_unused;    /* a variable: through slots that may be unused */
    bool mixed, inner;     /* it leads to several classes; to a frame, or goes through one */
    enum vt_weak leads_to; /* a variable with a step in doubt */
    uint32_t line;
    uint32_t objects;                /* the largest number of objects at any snapshot; 0: unknown */
    uint64_t address, inside_module; /* a variable; an address certainly inside its module */
    const char *name;                /* as in the log; points into `texts` */
    const char *type;                /* "" unknown */
    const char *core;                /* the name up to here; NULL: not made yet */
    const char *relation, *of;       /* "local", "f()": the name's context; NULL: none */
    const char *whole;               /* both in one; likewise */
};

struct vt_owner_names {
    const struct vt_log *log;
    struct vt_symbols *symbols;
    struct path *paths;
    size_t path_count, path_room;
    struct vt_map known;   /* hash -> path */
    struct vt_map doubted; /* addresses of variables with stale words */
    struct vt_map unused;  /* likewise, with slots that may be unused */
    uint32_t *path_of;     /* by step; VT_MAP_NONE: no root */
    uint32_t *graph_of;    /* by step: the first path that belongs to a graph; VT_MAP_NONE: none */
    struct vt_root *roots; /* by path, where requested */
    bool *rooted;
    char **texts;
    size_t text_count, text_room;
};

static const char local[] = "local", unnamed[] = "(unnamed)";

static const char *keep_name(struct vt_owner_names *n, char *text) {
    return *VT_ADD(n->texts, n->text_count, n->text_room) = vt_printable(text);
}

/* --- merging steps --- */

/* A step that is being merged into a path. */
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

/* A module's own dictionaries are omitted, so their keys become attributes, and numeric keys become indices. */
static void rewrite(struct merging *m) {
    const struct path *parent = m->parent == VT_MAP_NONE ? NULL : &m->n->paths[m->parent];
    size_t length = strlen(m->name);
    if (!parent || !parent->hidden || m->kind != VT_STEP_KEY || length < 2 || m->name[0] != '\'')
        return;
    m->name = m->stripped = vt_strndup(m->name + 1, length - 2);
    m->kind = is_decimal(m->name) ? VT_STEP_INDEX : VT_STEP_ATTRIBUTE;
}

static bool same_step(const struct path *a, unsigned kind, const char *name) {
    return a->kind == kind && (is_number(kind, name) || !strcmp(a->name, name));
}

/* The path that a step repeats (the next node of a list, the child of a child), or VT_MAP_NONE. */
static uint32_t repeated(const struct merging *m) {
    const struct path *paths = m->n->paths, *up[3];
    uint32_t at = m->parent, count = 0, grandparent = VT_MAP_NONE;
    for (; at != VT_MAP_NONE && count < 3; at = paths[at].parent) {
        grandparent = count == 1 ? at : grandparent;
        up[count++] = &paths[at];
    }
    if (count && paths[m->parent].inside && paths[m->parent].graph)
        return m->parent; /* anything attached to a graph belongs to the graph */
    if (count && paths[m->parent].depth >= DEEPEST)
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

static uint32_t find_path(const struct merging *m, uint64_t *key) {
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

static uint32_t add_path(struct merging *m) {
    struct vt_owner_names *n = m->n;
    uint64_t key;
    uint32_t index = find_path(m, &key);
    if (index != VT_MAP_NONE) {
        struct path *path = &n->paths[index];
        uint32_t objects = m->step->counts.objects;
        path->objects = objects > path->objects ? objects : path->objects;
        path->repeats |= m->step->repeats;
        path->many |= m->step->many || strcmp(path->name, m->name) != 0;
        path->mixed |= strcmp(path->type, m->step->type) != 0;
        return index;
    }
    index = (uint32_t)n->path_count;
    const char *name = keep_name(n, vt_strdup(m->name)),
               *type = keep_name(n, vt_class_text(m->step->type));
    VT_GROW(n->paths, n->path_count, n->path_room);
    n->paths[n->path_count++] = (struct path){
        .parent = m->parent,
        .kind = (uint16_t)m->kind,
        .depth = m->parent == VT_MAP_NONE ? 0 : (uint8_t)(n->paths[m->parent].depth + 1),
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

/* An attribute that a program added to a tensor: weight.main_grad. A gradient is named by the tensor. */
static bool is_of_tensor(const struct merging *m, const struct vt_log_step *parent) {
    return parent && m->kind == VT_STEP_ATTRIBUTE && strcmp(m->name, "grad") != 0 &&
           (!strcmp(parent->type, "torch.Tensor") ||
            !strcmp(parent->type, "torch.nn.parameter.Parameter"));
}

/* Whether the target of a step is after the end of the name. */
static bool is_inside(const struct merging *m, const struct vt_log_step *parent) {
    if (m->parent == VT_MAP_NONE || (!m->n->paths[m->parent].inside && is_of_tensor(m, parent)))
        return false;
    return m->n->paths[m->parent].inside || m->kind == VT_STEP_CLASS ||
           (parent && vt_roles_is_memory(parent->type));
}

/* All words of one variable form one root. False: the variable keeps nothing. */
static bool find_variable(struct merging *m) {
    struct vt_variable_symbol variable;
    if (!vt_native_root_variable(m->n->log, m->n->symbols, m->step, &m->address, &variable))
        return true;
    m->leads_to = variable.leads_to;
    if (variable.stale)
        vt_map_put(&m->n->doubted, m->address, 0);
    if (variable.may_be_unused)
        vt_map_put(&m->n->unused, m->address, 0);
    /* if the memory around its word is unknown, it is assumed to be like the others */
    m->may_be_unused = m->step->around ? variable.may_be_unused
                                       : vt_map_get(&m->n->unused, m->address) != VT_MAP_NONE;
    return !variable.weak && !variable.stale;
}

static void merge_step(struct vt_owner_names *n, uint32_t i) {
    const struct vt_log_step *step = &n->log->steps[i];
    const struct vt_log_step *parent =
        step->parent == VT_MAP_NONE ? NULL : &n->log->steps[step->parent];
    struct merging m = {.n = n,
                        .step = step,
                        .parent = parent ? n->path_of[step->parent] : VT_MAP_NONE,
                        .kind = step->kind,
                        .name = step->name,
                        .address = step->address};
    n->path_of[i] = VT_MAP_NONE;
    if (step->lost || (parent && m.parent == VT_MAP_NONE) || (!parent && !is_root(m.kind)) ||
        !find_variable(&m))
        return;
    rewrite(&m);
    m.inside = is_inside(&m, parent);
    uint32_t again = repeated(&m);
    n->path_of[i] = again == VT_MAP_NONE ? add_path(&m) : again;
    if (again != VT_MAP_NONE)
        n->paths[again].repeats = true;
    free(m.stripped);
    if (step->in_doubt)
        n->paths[n->path_of[i]].leads_to = m.leads_to;
}

/* A path reaches its first node of a graph at the same step as its parent, or with its last step. */
static void find_graph(struct vt_owner_names *n, uint32_t i) {
    const struct vt_log_step *step = &n->log->steps[i];
    n->graph_of[i] = VT_MAP_NONE;
    if (n->path_of[i] == VT_MAP_NONE)
        return;
    if (step->parent != VT_MAP_NONE)
        n->graph_of[i] = n->graph_of[step->parent];
    if (n->graph_of[i] == VT_MAP_NONE && n->paths[n->path_of[i]].graph &&
        step->kind == VT_STEP_CLASS)
        n->graph_of[i] = i;
}

struct vt_owner_names *vt_owner_names_open(const struct vt_log *log, struct vt_symbols *symbols) {
    struct vt_owner_names *n = vt_alloc(1, sizeof *n);
    n->log = log;
    n->symbols = symbols;
    n->path_of = vt_alloc(log->step_count, sizeof *n->path_of);
    n->graph_of = vt_alloc(log->step_count, sizeof *n->graph_of);
    for (uint32_t i = 0; i < log->step_count; i++)
        merge_step(n, i);
    for (uint32_t i = 0; i < log->step_count; i++)
        find_graph(n, i);
    n->roots = vt_alloc(n->path_count, sizeof *n->roots);
    n->rooted = vt_alloc(n->path_count, sizeof *n->rooted);
    return n;
}

void vt_owner_names_close(struct vt_owner_names *n) {
    if (!n)
        return;
    vt_free_texts(n->texts, n->text_count);
    free(n->paths);
    free(n->path_of);
    free(n->graph_of);
    free(n->roots);
    free(n->rooted);
    vt_map_free(&n->known);
    vt_map_free(&n->doubted);
    vt_map_free(&n->unused);
    free(n);
}

/* --- roots --- */

/* The file of the running script: Python forgets it, the `__file__` of its module, when the script's code has ended. */
static const char *script_of(struct vt_owner_names *n, const char *module) {
    char *script = strcmp(module, "__main__") ? NULL : vt_log_script(n->log);
    return script ? keep_name(n, script) : NULL;
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
    while (n->paths[index].parent != VT_MAP_NONE)
        index = n->paths[index].parent;
    struct vt_root *root = &n->roots[index];
    const struct path *path = &n->paths[index];
    if (n->rooted[index])
        return root;
    n->rooted[index] = true;
    root->kind = kinds[path->kind];
    switch (root->kind) {
    case VT_ROOT_MODULE:
        root->module = text_or_null(path->name);
        root->file = path->type[0] ? path->type : script_of(n, path->name);
        break;
    case VT_ROOT_FRAME:
        root->function = text_or_null(path->name);
        root->file = text_or_null(path->type);
        root->line = path->line;
        break;
    case VT_ROOT_GLOBAL:
    case VT_ROOT_THREAD_LOCAL:
    case VT_ROOT_NATIVE_STACK:
        vt_native_root_fill(n->log, n->symbols, path->kind, path->address, path->inside_module,
                            root);
        root->module = root->module ? keep_name(n, vt_strdup(root->module)) : NULL;
        if (!root->what && path->name[0])
            root->what = path->name;
        break;
    default:
        root->what = text_or_null(path->name);
    }
    return root;
}

/* --- texts --- */

/* A step as written in a name: ".weight", "[*]", "['k']". Free it. */
static char *step_text(const struct path *path) {
    switch (path->kind) {
    case VT_STEP_KEY:
    case VT_STEP_INDEX:
        return path->many || !path->name[0] ? vt_strdup("[*]") : vt_formatted("[%s]", path->name);
    case VT_STEP_ITEM:
        return vt_strdup("{*}");
    case VT_STEP_ATTRIBUTE:
        return vt_formatted(".%s%s", path->many || !path->name[0] ? "*" : path->name,
                            path->repeats ? "…" : "");
    default:
        return vt_strdup(path->many || !path->name[0] ? "*" : path->name);
    }
}

/* Makes the name up to a path. Recursive; the depth is bounded. */
static void make_name(struct vt_owner_names *n, uint32_t index) {
    struct path *path = &n->paths[index];
    if (path->core)
        return;
    if (path->parent == VT_MAP_NONE) {
        path->core = root_text(root_of(n, index));
        return;
    }
    make_name(n, path->parent);
    const struct path *parent = &n->paths[path->parent];
    const char *of = parent->core[0] ? parent->core : "a frame";
    VT_SCOPED char *text = step_text(path);
    path->relation = parent->relation;
    path->of = parent->of;
    path->inner = parent->inner || path->kind == VT_STEP_FRAME;
    if (path->hidden || path->inside) {
        path->core = parent->core;
    } else if (path->kind == VT_STEP_FRAME) {
        path->core = "";
        path->relation = local;
        path->of = keep_name(n, vt_formatted("%s()", path->name));
    } else if (path->kind == VT_STEP_NAME) {
        path->core = keep_name(n, vt_strdup(text));
        if (parent->parent != VT_MAP_NONE && parent->kind != VT_STEP_FRAME) {
            path->inner = true;
            path->relation = local;
            path->of = of;
        }
    } else if (path->kind == VT_STEP_CLOSURE || path->kind == VT_STEP_DEFAULT) {
        path->core = keep_name(n, vt_strdup(text));
        path->relation = path->kind == VT_STEP_CLOSURE ? "closure" : "default argument";
        path->of = of;
    } else {
        path->core = keep_name(
            n, vt_formatted("%s%s%s", parent->core,
                            parent->repeats && parent->kind != VT_STEP_ATTRIBUTE ? "…" : "",
                            parent->core[0] || text[0] != '.' ? text : text + 1));
    }
}

static const char *whole_name(struct vt_owner_names *n, uint32_t index) {
    make_name(n, index);
    struct path *path = &n->paths[index];
    const char *core = path->core[0] ? path->core : unnamed;
    if (!path->whole)
        path->whole =
            path->of ? keep_name(n, vt_formatted("%s (%s of %s)", core, path->relation, path->of))
                     : core;
    return path->whole;
}

static struct vt_owner_step step_of(struct vt_owner_names *n, uint32_t index) {
    const char *whole = whole_name(n, index);
    const struct path *path = &n->paths[index];
    return (struct vt_owner_step){.id = index,
                                  .name = whole,
                                  .length = (uint32_t)strlen(path->core[0] ? path->core : unnamed),
                                  .local_of = path->relation == local ? path->of : NULL};
}

static uint32_t name_end(const struct vt_owner_names *n, uint32_t index) {
    while (n->paths[index].inside || n->paths[index].hidden)
        index = n->paths[index].parent;
    return index;
}

uint32_t vt_owner_names_of(const struct vt_owner_names *n, uint32_t step) {
    return n->path_of[step] == VT_MAP_NONE ? VT_MAP_NONE : name_end(n, n->path_of[step]);
}

static uint32_t root_path(const struct vt_owner_names *n, uint32_t step) {
    uint32_t path = n->path_of[step];
    for (uint32_t up = path; up != VT_MAP_NONE; up = n->paths[up].parent)
        path = up;
    return path;
}

static const struct vt_log_step *root_step(const struct vt_owner_names *n, uint32_t step) {
    return &n->log->steps[n->log->steps[step].root];
}

bool vt_owner_names_in_doubt(const struct vt_owner_names *n, uint32_t step) {
    return root_step(n, step)->in_doubt;
}

/* Whether the memory around a word is unknown, in a variable that has stale words. */
static bool is_doubted(const struct vt_owner_names *n, uint32_t step) {
    return !root_step(n, step)->around &&
           vt_map_get(&n->doubted, n->paths[root_path(n, step)].address) != VT_MAP_NONE;
}

uint32_t vt_owner_names_settle(const struct vt_owner_names *n, uint32_t first,
                               const uint32_t others[VT_OWNED_OTHERS]) {
    uint32_t one = VT_MAP_NONE;
    bool several = false;
    for (int i = -1; i < (int)VT_OWNED_OTHERS; i++) {
        uint32_t step = i < 0 ? first : others[i];
        uint32_t root = step == VT_MAP_NONE ? VT_MAP_NONE : root_path(n, step);
        if (root == VT_MAP_NONE || is_doubted(n, step))
            continue;
        if (!vt_owner_names_in_doubt(n, step) || n->paths[root].leads_to == VT_WEAK_NONE)
            return step;
        if (n->paths[root].leads_to != VT_WEAK_MAYBE)
            continue;
        several |= one != VT_MAP_NONE && root_path(n, one) != root;
        one = one == VT_MAP_NONE ? step : one;
    }
    return several ? VT_MAP_NONE : one;
}

static uint32_t variable_of(const struct vt_owner_names *n, uint32_t index) {
    while (n->paths[index].parent != VT_MAP_NONE &&
           n->paths[n->paths[index].parent].parent != VT_MAP_NONE)
        index = n->paths[index].parent;
    return index;
}

enum vt_purpose vt_owner_names_purpose(const struct vt_owner_names *n, uint32_t step,
                                       unsigned roles) {
    enum vt_purpose purpose = vt_roles_seen(roles);
    uint32_t path = n->path_of[step];
    if (purpose != VT_PURPOSE_OTHER || path == VT_MAP_NONE)
        return purpose;
    purpose = vt_roles_named(n->paths[variable_of(n, path)].name);
    /* objects kept by hooks and checkpoints for the backward pass are not saved tensors */
    for (uint32_t at = path; at != VT_MAP_NONE && purpose == VT_PURPOSE_OTHER;
         at = n->paths[at].parent)
        purpose = n->paths[at].graph ? VT_PURPOSE_ACTIVATIONS : VT_PURPOSE_OTHER;
    for (; path != VT_MAP_NONE && purpose == VT_PURPOSE_OTHER; path = n->paths[path].parent)
        if (!is_root(n->paths[path].kind))
            purpose = vt_roles_classed(n->paths[path].type);
    return purpose;
}

/* Whether a path leads to the items of a container that may grow. A tuple is created with its items. */
static bool is_of_container(const struct vt_owner_names *n, const struct path *path) {
    const struct path *parent = &n->paths[path->parent];
    bool unnamed = parent->kind == VT_STEP_MODULE || parent->kind == VT_STEP_FRAME;
    bool many = path->many || (path->kind == VT_STEP_ITEM && path->objects > 1); /* in a set */
    return many && !unnamed && !parent->hidden && strcmp(parent->type, "tuple") != 0;
}

/* The container that grows when more is held: the innermost one with many items; but of nested containers the one
 * with more items: a list of iterations with the same few tensors each, a few layers with a list each. */
static uint32_t container_of(const struct vt_owner_names *n, uint32_t end) {
    const struct path *inner = NULL;
    for (uint32_t at = end; n->paths[at].parent != VT_MAP_NONE; at = n->paths[at].parent) {
        const struct path *path = &n->paths[at];
        if (!is_of_container(n, path))
            continue;
        if (inner && (!path->objects || path->objects <= inner->objects / path->objects))
            break;
        inner = path;
    }
    return inner ? inner->parent : end;
}

static const char *known_type(const struct path *path) {
    return path->mixed || is_root(path->kind) ? NULL : text_or_null(path->type);
}

/* Counts the graphs that begin where a step's path reaches the first node. */
static void count_graphs(const struct vt_owner_names *n, uint32_t step,
                         struct vt_memory_owner *owner) {
    if (n->graph_of[step] == VT_MAP_NONE)
        return;
    const struct vt_log_step *first = &n->log->steps[n->graph_of[step]];
    owner->graphs = first->counts.objects > 1 ? first->counts.objects : first->counts.row;
    owner->graph_chain = first->counts.objects == 1 && first->repeats ? first->counts.length : 0;
}

static void fill_path(struct vt_owner_names *n, uint32_t index, uint32_t end, uint32_t container,
                      struct vt_memory_owner *owner) {
    uint32_t list[DEEPEST + 8], count = 0;
    for (uint32_t at = index; at != VT_MAP_NONE && count < DEEPEST + 4; at = n->paths[at].parent)
        list[count++] = at;
    const char **labels = vt_alloc(2 * (count + 2), sizeof *labels), **types = labels + count + 2;
    struct vt_owner_step *steps = vt_alloc(count + 2, sizeof *steps);
    uint32_t length = 0;
    owner->longer = n->paths[index].repeats;
    for (uint32_t i = count; i-- > 0;) {
        const struct path *path = &n->paths[list[i]];
        const char *type = known_type(path);
        bool root = path->parent == VT_MAP_NONE;
        if (path->hidden || (path->inside && is_number_class(path->type)) ||
            (root && !root_text(root_of(n, list[i]))[0]))
            continue;
        if (path->inside) {
            owner->graph = path->graph ? keep_name(n, vt_class_short(path->type)) : owner->graph;
            labels[length] = path->type[0] ? keep_name(n, vt_class_short(path->type))
                                           : keep_name(n, step_text(path));
        } else if (root) {
            labels[length] = root_text(root_of(n, list[i]));
        } else {
            labels[length] = keep_name(n, step_text(path));
        }
        steps[length] = step_of(n, list[i]);
        types[length++] = type;
        if (list[i] == container)
            owner->container_steps = length;
        if (list[i] != end)
            continue;
        owner->name_count = length;
        bool more = end != index && !is_number_class(n->paths[index].type);
        if (type && (more || vt_roles_is_memory(type))) {
            labels[length] = keep_name(n, vt_class_short(type));
            types[length++] = type;
        }
    }
    *VT_ADD(n->texts, n->text_count, n->text_room) = (char *)labels; /* freed with the texts */
    *VT_ADD(n->texts, n->text_count, n->text_room) = (char *)steps;
    owner->path = labels;
    owner->steps = steps;
    owner->types = types;
    owner->path_count = length;
}

/* The function of the frame on a path, since exceptions keep frames. */
static const char *frame_function(const struct vt_owner_names *n, uint32_t index) {
    for (; index != VT_MAP_NONE; index = n->paths[index].parent)
        if (n->paths[index].kind == VT_STEP_FRAME)
            return text_or_null(n->paths[index].name);
    return NULL;
}

void vt_owner_names_fill(struct vt_owner_names *n, uint32_t step, struct vt_memory_owner *owner) {
    uint32_t index = n->path_of[step], end = name_end(n, index), container = container_of(n, end);
    const struct vt_root *root = root_of(n, end);
    owner->name = whole_name(n, end);
    owner->is_local_of_another = n->paths[end].inner;
    owner->root = *root;
    if (root->kind == VT_ROOT_EXCEPTION)
        owner->root.function = frame_function(n, end);
    vt_owner_set_container(owner, step_of(n, container), known_type(&n->paths[container]));
    owner->may_be_unused = n->paths[root_path(n, step)].may_be_unused;
    owner->variable = variable_of(n, end) * VT_PURPOSES + owner->purpose;
    fill_path(n, index, end, container, owner);
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
