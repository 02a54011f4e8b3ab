/* SPDX-License-Identifier: MIT */
/*
 * A log in the making, for the tests of growth: allocations, frees and phases of a few sites, one
 * after the other, and the model that is built from them.
 */
#ifndef VT_TESTS_GROWTH_STORY_H
#define VT_TESTS_GROWTH_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "build.h"
#include "model/model.h"
#include "tests/unit/analyzer/log_maker.c"

#include <unistd.h>

static const char *const path = maker_path;

/* A log in the making. Addresses are handed out, never twice; sites are stacks of one frame. */
struct story {
    struct vt_maker maker;
    uint64_t next;
    uint64_t range;
    unsigned thread; /* the thread of the next events */
};

static void begin(struct story *s) {
    *s = (struct story){.next = 0x10000};
    maker_start(&s->maker);
    maker_module(&s->maker, 0, 0, 0x400000, 0x500000, 0x400000, "id", 2, "/opt/program");
    for (uint32_t i = 1; i <= 4; i++) {
        uint64_t frames[] = {0x400000 + 0x1000 * i};
        maker_stack(&s->maker, 0, i, frames, 1);
    }
}

static uint64_t take(struct story *s, uint32_t site, uint64_t size) {
    uint64_t address = s->next;
    s->next += size + 256;
    maker_alloc(&s->maker, s->thread, 0, VT_KIND_DEVICE, 2, 0, site, address, size, 0);
    return address;
}

static void give(struct story *s, uint64_t address) {
    maker_free_at(&s->maker, s->thread, 0, VT_KIND_DEVICE, address);
}

static void work(struct story *s) {
    give(s, take(s, 4, 4096));
}

static struct vt_process *finish(struct story *s, struct vt_model *model) {
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1};
    struct vt_string message = {0};
    assert_int_equal(maker_save(&s->maker, path), 0);
    maker_free(&s->maker);
    assert_int_equal(vt_build_model(logs, 1, &options, model, &message), 0);
    return model->processes;
}

/* The growth of the site whose stack is that number; NULL: none. */
static const struct vt_growth *growth_of(const struct vt_process *p, uint32_t site) {
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].stack->count &&
            vt_stack_frame(p->sites[i].stack, 0)->offset == 0x1000 * site - 1)
            return p->sites[i].growth;
    fail();
    return NULL;
}

static bool grows(struct story *s) {
    struct vt_model model;
    bool found = growth_of(finish(s, &model), 1) != NULL;
    vt_build_free(&model);
    return found;
}

#endif
