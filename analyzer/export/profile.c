/* SPDX-License-Identifier: MIT */
/*
 * A pprof profile under construction (see profile.h).
 */
#include "profile.h"

#include "samples.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef Perftools__Profiles__Function Function;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Mapping Mapping;
typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;

struct text {
    char *text; /* as given */
    int64_t number;
    UT_hash_handle hh;
};

/* An entity that is identified by a key of bytes; its number is its id. */
struct thing {
    uint64_t id;
    UT_hash_handle hh;
    char key[];
};

/* A growing repeated field: protobuf-c needs an array of pointers. */
struct list {
    void **items;
    size_t count, room;
};

struct vt_profile {
    Profile *message;
    struct text *texts;
    struct list strings, functions, mappings, locations, samples;
    struct thing *functions_by_key, *mappings_by_key, *locations_by_key;
};

/* A zeroed item at the end of a list. */
static void *append_item(struct list *list, size_t size) {
    VT_GROW(list->items, list->count, list->room);
    return list->items[list->count++] = vt_alloc(1, size);
}

struct vt_profile *vt_profile_open(void) {
    struct vt_profile *p = vt_alloc(1, sizeof *p);
    p->message = vt_alloc(1, sizeof *p->message);
    perftools__profiles__profile__init(p->message);
    vt_profile_text(p, "");
    return p;
}

Profile *vt_profile_message(struct vt_profile *p) {
    return p->message;
}

int64_t vt_profile_text(struct vt_profile *p, const char *text) {
    struct text *known;
    text = text ? text : "";
    HASH_FIND_STR(p->texts, text, known);
    if (!known) {
        struct vt_string shown = {0};
        vt_string_add(&shown, "");
        vt_samples_escape(&shown, text, false);
        known = vt_alloc(1, sizeof *known);
        known->text = vt_strdup(text);
        known->number = (int64_t)p->strings.count;
        HASH_ADD_KEYPTR(hh, p->texts, known->text, strlen(known->text), known);
        VT_GROW(p->strings.items, p->strings.count, p->strings.room);
        p->strings.items[p->strings.count++] = shown.text;
    }
    return known->number;
}

/* Returns whether the key is new. *id: the id of the entity with this key. */
static bool is_new(struct thing **things, const void *key, size_t length, uint64_t *id) {
    struct thing *known;
    HASH_FIND(hh, *things, key, length, known);
    if (known) {
        *id = known->id;
        return false;
    }
    known = vt_alloc(1, sizeof *known + length);
    *id = known->id = HASH_COUNT(*things) + 1;
    memcpy(known->key, key, length);
    HASH_ADD_KEYPTR(hh, *things, known->key, length, known);
    return true;
}

static void free_things(struct thing **things) {
    struct thing *thing, *next;
    HASH_ITER(hh, *things, thing, next) {
        HASH_DEL(*things, thing);
        free(thing);
    }
}

uint64_t vt_profile_mapping(struct vt_profile *p, const struct vt_module *module) {
    uint64_t id;
    if (!module || !is_new(&p->mappings_by_key, &module, sizeof module, &id))
        return module ? id : 0;
    Mapping *m = append_item(&p->mappings, sizeof *m);
    perftools__profiles__mapping__init(m);
    m->id = id;
    m->memory_start = module->start;
    m->memory_limit = module->end;
    m->filename = vt_profile_text(p, module->path);
    m->build_id = vt_profile_text(p, module->build_id);
    m->has_functions = m->has_filenames = m->has_line_numbers = m->has_inline_frames = true;
    return id;
}

static uint64_t function(struct vt_profile *p, const struct vt_profile_line *line) {
    /* If the system name equals the name, pprof shortens it as a C++ name: "<module>" would become empty. */
    const char *whole = line->frame ? line->frame->function : NULL;
    int64_t key[] = {
        vt_profile_text(p, line->name),
        vt_profile_text(p, vt_same_text(whole, line->name) ? NULL : whole),
        vt_profile_text(p, line->frame ? line->frame->file : NULL),
    };
    uint64_t id;
    if (!is_new(&p->functions_by_key, key, sizeof key, &id))
        return id;
    Function *f = append_item(&p->functions, sizeof *f);
    perftools__profiles__function__init(f);
    f->id = id;
    f->name = key[0];
    f->system_name = key[1];
    f->filename = key[2];
    return id;
}

uint64_t vt_profile_location(struct vt_profile *p, uint64_t mapping, uint64_t address,
                             const struct vt_profile_line *lines, uint32_t count) {
    uint64_t *key = vt_alloc(2 + 2 * (size_t)count, sizeof *key), id;
    key[0] = mapping;
    key[1] = address;
    for (uint32_t i = 0; i < count; i++) {
        key[2 + 2 * i] = function(p, &lines[i]);
        key[3 + 2 * i] = lines[i].frame ? lines[i].frame->line : 0;
    }
    if (is_new(&p->locations_by_key, key, (2 + 2 * (size_t)count) * sizeof *key, &id)) {
        Location *l = append_item(&p->locations, sizeof *l);
        perftools__profiles__location__init(l);
        l->id = id;
        l->mapping_id = mapping;
        l->address = address;
        l->n_line = count;
        l->line = vt_alloc(count, sizeof(Line *));
        for (uint32_t i = 0; i < count; i++) {
            l->line[i] = vt_alloc(1, sizeof(Line));
            perftools__profiles__line__init(l->line[i]);
            l->line[i]->function_id = key[2 + 2 * i];
            l->line[i]->line = (int64_t)key[3 + 2 * i];
        }
    }
    free(key);
    return id;
}

void vt_profile_sample(struct vt_profile *p, const uint64_t *locations, uint32_t depth,
                       const int64_t *values, uint32_t value_count,
                       const struct vt_profile_label *labels, uint32_t label_count) {
    Sample *s = append_item(&p->samples, sizeof *s);
    perftools__profiles__sample__init(s);
    s->n_location_id = depth;
    s->location_id = vt_alloc(depth, sizeof *s->location_id);
    if (depth) /* memcpy does not accept NULL, even for 0 bytes */
        memcpy(s->location_id, locations, depth * sizeof *locations);
    s->n_value = value_count;
    s->value = vt_alloc(value_count, sizeof *s->value);
    memcpy(s->value, values, value_count * sizeof *values);
    s->n_label = label_count;
    s->label = vt_alloc(label_count, sizeof *s->label);
    for (uint32_t i = 0; i < label_count; i++) {
        s->label[i] = vt_alloc(1, sizeof(Label));
        perftools__profiles__label__init(s->label[i]);
        s->label[i]->key = vt_profile_text(p, labels[i].key);
        s->label[i]->str = vt_profile_text(p, labels[i].text);
    }
}

int vt_profile_write(struct vt_profile *p, FILE *out) {
    Profile *m = p->message;
    m->n_string_table = p->strings.count;
    m->string_table = (char **)p->strings.items;
    m->n_function = p->functions.count;
    m->function = (Function **)p->functions.items;
    m->n_mapping = p->mappings.count;
    m->mapping = (Mapping **)p->mappings.items;
    m->n_location = p->locations.count;
    m->location = (Location **)p->locations.items;
    m->n_sample = p->samples.count;
    m->sample = (Sample **)p->samples.items;
    size_t length = perftools__profiles__profile__get_packed_size(m);
    VT_SCOPED uint8_t *bytes = vt_alloc(length + 1, 1);
    perftools__profiles__profile__pack(m, bytes);
    int error = vt_gzip_write(out, bytes, length);
    return error;
}

void vt_profile_close(struct vt_profile *p) {
    struct text *text, *next;
    HASH_ITER(hh, p->texts, text, next) {
        HASH_DEL(p->texts, text);
        free(text->text);
        free(text);
    }
    perftools__profiles__profile__free_unpacked(p->message, NULL); /* including all its parts */
    free_things(&p->functions_by_key);
    free_things(&p->mappings_by_key);
    free_things(&p->locations_by_key);
    free(p);
}
