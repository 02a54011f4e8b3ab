/* SPDX-License-Identifier: MIT */
/*
 * The answers of a module's files, as stored in a pack (see dwarf.h).
 */
#include "dwarf.h"

#include <string.h>

uint64_t vt_recorded_module(const char *path, const char *build_id) {
    return vt_hash_bytes(vt_hash_bytes(0, path, strlen(path) + 1), build_id, strlen(build_id));
}

uint64_t vt_recorded_question(uint64_t module, enum vt_recorded what, uint64_t address,
                              unsigned how, const struct vt_log_around *around) {
    uint64_t question = vt_mix(vt_mix(vt_mix(module + what) + address) + how);
    for (; around; around = around->parent) {
        uint64_t place[] = {around->before, around->count, (uint32_t)around->offset};
        question = vt_hash_bytes(question, place, sizeof place);
        if (around->halves)
            question = vt_hash_bytes(question, around->halves, around->count / 2);
    }
    return question;
}

/* For fields that are narrower than an answer's numbers. */
#define NARROW(reply, field)                                                                       \
    do {                                                                                           \
        uint64_t number = (field);                                                                 \
        vt_reply_number((reply), &number);                                                         \
        (field) = number;                                                                          \
    } while (0)

void vt_recorded_state(struct vt_reply *reply, void *what) {
    enum vt_symbols_state *state = what;
    NARROW(reply, *state);
}

void vt_recorded_symbols(struct vt_reply *reply, void *what) {
    struct vt_recorded_symbols *s = what;
    NARROW(reply, s->count);
    reply->bad |= s->count > VT_SYMBOLS_MOST;
    s->count = reply->bad ? 0 : s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        vt_reply_text(reply, &s->row[i].function);
        vt_reply_text(reply, &s->row[i].file);
        NARROW(reply, s->row[i].line);
    }
}

void vt_recorded_variable(struct vt_reply *reply, void *what) {
    struct vt_variable_symbol *v = what;
    vt_reply_text(reply, &v->name);
    vt_reply_text(reply, &v->file);
    NARROW(reply, v->line);
    vt_reply_number(reply, &v->address);
    NARROW(reply, v->hidden);
    NARROW(reply, v->weak);
    NARROW(reply, v->stale);
    NARROW(reply, v->may_be_unused);
    NARROW(reply, v->leads_to);
}

void vt_recorded_slot(struct vt_reply *reply, void *what) {
    struct vt_slot *slot = what;
    vt_reply_number(reply, &slot->array);
    vt_reply_number(reply, &slot->capacity);
    vt_reply_number(reply, &slot->index);
    NARROW(reply, slot->words);
}
