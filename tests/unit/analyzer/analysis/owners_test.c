/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory, from logs made for the test: names as an author would write them, roots, roles,
 * sums, and what a broken or hostile log does not do.
 */
#include "owners_log.h"

static void list_of_arrays(void **state) {
    (void)state;
    start();
    uint32_t history = step(module(), VT_STEP_NAME, "history", "list");
    uint32_t item = many(history, VT_STEP_INDEX, "numba.cuda.cudadrv.devicearray.DeviceNDArray");
    uint32_t pointer =
        step(item, VT_STEP_ATTRIBUTE, "gpu_data", "numba.cuda.cudadrv.driver.MemoryPointer");
    for (int i = 0; i < 119; i++)
        own(block(1000), pointer, 0);
    const struct vt_memory_owner *o = owner_at(pointer, 0);
    assert_string_equal(o->name, "history[*]");
    assert_int_equal(o->count, 120);
    assert_int_equal(o->bytes, 119 * 1000 + 4096);
    assert_int_equal(o->root.kind, VT_ROOT_MODULE);
    assert_string_equal(o->root.module, "__main__");
    assert_string_equal(o->root.file, "/tmp/train.py");
    static const char *const expected[] = {"history", "[*]", "DeviceNDArray", "MemoryPointer"};
    assert_int_equal(o->path_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(o->path[i], expected[i]);
    assert_string_equal(o->types[0], "list");
    assert_int_equal(o->purpose, VT_PURPOSE_OTHER);
    assert_text(o, o->count, "history (list, 120 blocks) in __main__, train.py");
    assert_chain(o, "history[*] → DeviceNDArray → MemoryPointer");
    assert_int_equal(model.processes[0].sites[0].owned.count, 1);
    assert_int_equal(model.processes[0].snapshots[0].unowned_bytes, 0);
    end();
}

/* name -> what it is called */
static void names(void **state) {
    (void)state;
    static const struct {
        struct maker_step steps[9]; /* `parent` 0: below the one before */
        const char *name, *text;
    } rows[] = {
        {{{.kind = VT_STEP_FRAME, .name = "Trainer.fit", .type = "/tmp/train.py", .line = 31},
          {.kind = VT_STEP_NAME, .name = "self", .type = "__main__.Trainer"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "cache", .type = "dict"},
          {.kind = VT_STEP_KEY, .name = "'k'", .type = "torch.Tensor"}},
         "self.cache['k']",
         "self.cache['k'] (torch.Tensor) in Trainer.fit(), train.py:31"},
        {{{.kind = VT_STEP_MODULE, .name = "__main__", .type = "/tmp/train.py"},
          {.kind = VT_STEP_NAME, .name = "model", .type = "__main__.Net"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "_modules", .type = "dict"},
          {.kind = VT_STEP_KEY,
           .name = "'layers'",
           .type = "torch.nn.modules.container.Sequential"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "_modules", .type = "dict"},
          {.kind = VT_STEP_KEY, .name = "'0'", .type = "torch.nn.modules.linear.Linear"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "_parameters", .type = "dict"},
          {.kind = VT_STEP_KEY, .name = "'weight'", .type = "torch.nn.parameter.Parameter"}},
         "model.layers[0].weight",
         "model.layers[0].weight (torch.nn.parameter.Parameter) in __main__, train.py"},
        {{{.kind = VT_STEP_FRAME, .name = "main", .type = "/tmp/train.py", .line = 12},
          {.kind = VT_STEP_NAME, .name = "x", .type = "Buffer"}},
         "x",
         "x (Buffer) in main(), train.py:12"},
        {{{.kind = VT_STEP_MODULE, .name = "__main__", .type = "/tmp/train.py"},
          {.kind = VT_STEP_NAME, .name = "hook", .type = "function"},
          {.kind = VT_STEP_CLOSURE, .name = "kept", .type = "list"},
          {.kind = VT_STEP_INDEX, .flags = VT_STEP_MANY, .type = "int"}},
         "kept[*] (closure of hook)",
         "kept (closure of hook) (list) in __main__, train.py"},
        {{{.kind = VT_STEP_MODULE, .name = "__main__", .type = "/tmp/train.py"},
          {.kind = VT_STEP_NAME, .name = "f", .type = "function"},
          {.kind = VT_STEP_DEFAULT, .name = "out", .type = "Buffer"}},
         "out (default argument of f)",
         "out (default argument of f) (Buffer) in __main__, train.py"},
        {{{.kind = VT_STEP_EXCEPTION, .name = "ValueError"},
          {.kind = VT_STEP_FRAME, .name = "f", .type = "frame"},
          {.kind = VT_STEP_NAME, .name = "x", .type = "Buffer"}},
         "x (local of f())",
         "exception ValueError: local x of f() (Buffer)"},
        {{{.kind = VT_STEP_CYCLE, .name = "Node"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "buffer", .type = "Buffer"}},
         "Node.buffer",
         "a reference cycle of Node objects that nothing else holds: Node.buffer (Buffer)"},
        {{{.kind = VT_STEP_MODULE, .name = "__main__", .type = "/tmp/train.py"},
          {.kind = VT_STEP_NAME, .name = "head", .type = "Node"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "next", .type = "Node"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "next", .type = "Node"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "next", .type = "Node"},
          {.kind = VT_STEP_ATTRIBUTE, .name = "value", .type = "Buffer"}},
         "head.next….value",
         "head.next….value (Buffer) in __main__, train.py"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t at = 0;
        start();
        for (size_t k = 0; k < 9 && rows[i].steps[k].kind; k++) {
            struct maker_step s = rows[i].steps[k];
            s.parent = at;
            at = maker_step(&m, 0, s);
        }
        const struct vt_memory_owner *o = owner_at(at, 0);
        assert_string_equal(o->name, rows[i].name);
        assert_text(o, 0, rows[i].text);
        end();
    }
}

/* All layers are one owner, though the log has a step for each. */
static void layers(void **state) {
    (void)state;
    start();
    uint32_t model_step = step(module(), VT_STEP_NAME, "model", "__main__.Net");
    uint32_t modules = step(model_step, VT_STEP_ATTRIBUTE, "_modules", "dict");
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof key, "'%d'", i);
        uint32_t layer = step(modules, VT_STEP_KEY, key, "torch.nn.modules.linear.Linear");
        uint32_t own_dict = step(layer, VT_STEP_ATTRIBUTE, "_parameters", "dict");
        uint32_t weight = step(own_dict, VT_STEP_KEY, "'weight'", "torch.nn.parameter.Parameter");
        own(block(1000), weight, VT_ROLE_PARAMETER | VT_ROLE_SAVED);
        own(block(1000), weight, VT_ROLE_GRADIENT);
    }
    snapshot();
    const struct vt_snapshot *s = &finish()->snapshots[0];
    assert_int_equal(s->owner_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_string_equal(s->owners[i].name, "model[*].weight");
        assert_int_equal(s->owners[i].count, 3);
    }
    assert_int_equal(s->owners[0].purpose + s->owners[1].purpose,
                     VT_PURPOSE_PARAMETERS + VT_PURPOSE_GRADIENTS);
    assert_true(s->owners[0].id != s->owners[1].id);
    end();
}

/* "history" in a frame of train(), or in that of the exception's traceback: its items. */
static uint32_t history_of_train(bool traceback) {
    uint32_t error = 0;
    if (traceback)
        error =
            maker_step(&m, 0, (struct maker_step){.kind = VT_STEP_EXCEPTION, .name = "ValueError"});
    uint32_t frame = maker_step(&m, 0,
                                (struct maker_step){.parent = error,
                                                    .kind = VT_STEP_FRAME,
                                                    .name = "train",
                                                    .type = traceback ? "frame" : "/tmp/train.py",
                                                    .line = traceback ? 0 : 9});
    return many(step(frame, VT_STEP_NAME, "history", "list"), VT_STEP_INDEX, "Buffer");
}

/* Memory kept by the exception that ended the program was held by the function that it ended; if the program
 * continued, the exception itself holds it. */
static void ended_by_an_exception(void **state) {
    (void)state;
    static const char *const expected[] = {
        "exception ValueError: local history of train() (list, 3 blocks)",
        "history (list, 3 blocks) in train(), which ValueError ended"};
    for (int status = 0; status < 2; status++) {
        start();
        maker_header(&m)->exit_status = status;
        const struct vt_memory_owner *o = owner_at(history_of_train(true), 0);
        assert_text(o, 3, expected[status]);
        assert_int_equal(o->root.kind, VT_ROOT_EXCEPTION);
        assert_string_equal(o->root.function, "train");
        end();
    }
}

/* Where memory ran out, what the traceback holds at the end was seen in the function that ran. */
static void traceback_of_out_of_memory(void **state) {
    (void)state;
    for (int status = 0; status < 2; status++) {
        start();
        maker_header(&m)->exit_status = status;
        uint64_t address = block(4096);
        own(address, history_of_train(false), 0);
        maker_snapshot(&m, 0, 1, VT_SNAPSHOT_OOM, m.ticks, 0);
        maker_owned(&m, 0, 2, address, VT_SPACE_DEVICE, history_of_train(true), 0);
        maker_snapshot(&m, 0, 2, VT_SNAPSHOT_END, m.ticks, 0);
        const struct vt_owned_list *owned = &finish()->sites[0].owned;
        assert_int_equal(owned->count, 1);
        assert_text(owned->owners[0].owner, 0,
                    status ? "history (list) in train(), train.py:9"
                           : "exception ValueError: local history of train() (list)");
        end();
    }
}

/* Of containers in each other the one with more items is what grows. */
static void containers_in_containers(void **state) {
    (void)state;
    static const struct {
        uint32_t outer, inner;
        const char *expected;
    } cases[] = {{100, 600, "history (list) in __main__, train.py"},
                 {12, 600, "history[*] (list) in __main__, train.py"},
                 {0, 0, "history[*] (list) in __main__, train.py"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        uint32_t history = step(module(), VT_STEP_NAME, "history", "list");
        uint32_t round = maker_step(&m, 0,
                                    (struct maker_step){history, VT_STEP_INDEX, NULL, "list",
                                                        VT_STEP_MANY, cases[i].outer, 0});
        uint32_t item = maker_step(&m, 0,
                                   (struct maker_step){round, VT_STEP_INDEX, NULL, "Buffer",
                                                       VT_STEP_MANY, cases[i].inner, 0});
        assert_text(owner_at(item, 0), 0, cases[i].expected);
        end();
    }
}

/* A set's members are one step, which has no name. */
static void members_of_a_set(void **state) {
    (void)state;
    static const char *const expected[] = {"running{*}.buffer (Buffer) in __main__, train.py",
                                           "running (set) in __main__, train.py"};
    for (uint32_t many = 0; many < 2; many++) {
        start();
        uint32_t set = step(module(), VT_STEP_NAME, "running", "set");
        uint32_t task = maker_step(
            &m, 0,
            (struct maker_step){set, VT_STEP_ITEM, NULL, "__main__.Task", 0, many ? 150 : 1, 0});
        assert_text(owner_at(step(task, VT_STEP_ATTRIBUTE, "buffer", "Buffer"), 0), 0,
                    expected[many]);
        end();
    }
}

/* Memory that has a named path in an earlier snapshot, but not at the end. */
static void lost_from_sight(void **state) {
    (void)state;
    start();
    uint64_t address = block(4096);
    own(address, history_of_train(false), 0);
    maker_snapshot(&m, 0, 1, VT_SNAPSHOT_PHASE, m.ticks, 0);
    maker_snapshot(&m, 0, 2, VT_SNAPSHOT_END, m.ticks, 0);
    const struct vt_site *site = &finish()->sites[0];
    assert_int_equal(site->owned.count, 1);
    assert_text(site->owned.owners[0].owner, 0, "history (list) in train(), train.py:9");
    assert_non_null(site->owned.owners[0].seen);
    assert_true(site->owned.owners[0].still);
    end();
}

/* Memory not live at that moment does not count; memory without an owner counts as unowned. */
static void sums(void **state) {
    (void)state;
    start();
    uint32_t kept = step(module(), VT_STEP_NAME, "kept", "list");
    uint32_t item = many(kept, VT_STEP_INDEX, "Buffer");
    uint64_t before = block(100), live = block(200), freed = block(400);
    block(800);
    maker_free_at(&m, 0, 0, VT_KIND_DEVICE, before);
    uint64_t moment = m.ticks;
    maker_free_at(&m, 0, 0, VT_KIND_DEVICE, freed);
    uint64_t later = block(1600);
    own(before, item, 0);
    own(live, item, 0);
    own(live, kept, 0); /* another holder */
    own(freed, item, 0);
    own(later, item, 0);
    own(0x77, item, 0);
    own(live, 4711, 0);                       /* no such step */
    maker_owned(&m, 0, 1, live, 6, item, 0);  /* no such space */
    maker_owned(&m, 0, 9, later, 0, item, 0); /* its snapshot never ended */
    maker_snapshot(&m, 0, 1, VT_SNAPSHOT_REQUEST, moment, VT_SNAPSHOT_PARTIAL);
    const struct vt_process *p = finish();
    assert_int_equal(p->snapshot_count, 1);
    const struct vt_snapshot *s = &p->snapshots[0];
    assert_false(s->complete);
    assert_int_equal(s->why, VT_SNAPSHOT_REQUEST);
    assert_int_equal(s->owners[0].bytes, 600);
    assert_int_equal(s->owners[0].count, 2);
    assert_int_equal(s->unowned_bytes, 800);
    assert_int_equal(s->unowned_count, 1);
    assert_int_equal(s->owner_count, 2);
    assert_int_equal(s->owners[1].bytes, 0);
    assert_int_equal(s->owners[1].other_count, 1);
    assert_int_equal(s->owners[1].others[0].bytes, 200);
    assert_ptr_equal(vt_process_snapshot(p), s);
    end();
}

/* Blocks are memory, their segment is not. */
static void segments(void **state) {
    (void)state;
    start();
    uint32_t x = step(module(), VT_STEP_NAME, "x", "torch.Tensor");
    uint64_t segment = block(1 << 20);
    maker_alloc(&m, 0, 0, BLOCK, 2000, 0, 1, segment, 512, 0);
    maker_owned(&m, 0, 1, segment, VT_SPACE_BLOCK, x, 0);
    maker_owned(&m, 0, 1, segment, VT_SPACE_DEVICE, x, 0);
    snapshot();
    const struct vt_snapshot *s = &finish()->snapshots[0];
    assert_int_equal(s->owner_count, 1);
    assert_int_equal(s->owners[0].bytes, 512);
    assert_int_equal(s->unowned_bytes, 0);
    end();
}

/* Ways without a root, and steps that go round. */
static void broken_ways(void **state) {
    (void)state;
    start();
    uint32_t lost = step(99999, VT_STEP_NAME, "a", "list");
    uint32_t below = step(lost, VT_STEP_INDEX, "0", "Buffer");
    uint32_t no_root = step(0, VT_STEP_ATTRIBUTE, "buffer", "Buffer");
    uint32_t self = step(m.steps + 1, VT_STEP_ATTRIBUTE, "self", "Node");
    uint32_t odd = step(module(), 4711, "\x1b[31m", "\xff");
    own(block(100), lost, 0);
    own(block(100), below, 0);
    own(block(100), no_root, 0);
    own(block(100), self, 0);
    own(block(50), odd, 0xffff);
    snapshot();
    const struct vt_snapshot *s = &finish()->snapshots[0];
    assert_int_equal(s->unowned_bytes, 400);
    assert_int_equal(s->owner_count, 1);
    assert_null(strchr(s->owners[0].name, 0x1b));
    end();
}

/* Two lines whose blocks one list keeps are one leak; what another list keeps is another one. */
static void one_owner_one_leak(void **state) {
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        uint64_t a[] = {0x401000}, b[] = {0x402000};
        maker_start(&m);
        maker_module(&m, 0, 0, 0x400000, 0x500000, 0x400000, "id", 2, "/opt/app/program");
        maker_stack(&m, 0, 1, a, 1);
        maker_stack(&m, 0, 2, b, 1);
        uint32_t root = maker_step(
            &m, 0,
            (struct maker_step){.kind = VT_STEP_GLOBAL, .name = "pool", .address = 0x700000});
        uint32_t other = maker_step(
            &m, 0,
            (struct maker_step){.kind = VT_STEP_GLOBAL, .name = "queue", .address = 0x700100});
        uint32_t x = many(root, VT_STEP_INDEX, NULL);
        uint32_t y = apart ? many(other, VT_STEP_INDEX, NULL) : x;
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 1, 0x1000, 100, 0);
        maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 1000, 0, 2, 0x2000, 300, 0);
        own(0x1000, x, 0);
        own(0x2000, y, 0);
        snapshot();
        const struct vt_process *p = finish();
        assert_int_equal(p->leak_count, apart ? 2 : 1);
        assert_non_null(p->leaks[0].kept);
        assert_string_equal(p->leaks[0].kept_by, apart ? "queue" : "pool");
        assert_int_equal(p->leaks[0].kept->count, apart ? 1 : 2);
        assert_int_equal(p->leaks[0].owned.count, 1);
        end();
    }
}

/* The end's snapshot says who keeps a leak, though another one came later. */
static void which_snapshot(void **state) {
    (void)state;
    start();
    uint32_t x = step(module(), VT_STEP_NAME, "x", "Buffer");
    uint32_t y = step(module(), VT_STEP_NAME, "y", "Buffer");
    uint64_t address = block(100);
    own(address, x, 0);
    snapshot();
    block(100);
    maker_name(&m, 0, 3, "epoch");
    maker_owned(&m, 0, 2, address, VT_SPACE_DEVICE, y, 0);
    struct vt_rec_snapshot r = {vt_word(VT_REC_SNAPSHOT, 0, 0, sizeof r),
                                2,
                                VT_SNAPSHOT_PHASE,
                                m.ticks,
                                1,
                                1,
                                1,
                                1,
                                0,
                                3,
                                0,
                                0};
    maker_put(&m, 0, &r, sizeof r);
    const struct vt_process *p = finish();
    assert_int_equal(p->snapshot_count, 2);
    assert_string_equal(p->snapshots[1].phase, "epoch");
    assert_string_equal(vt_process_snapshot(p)->owners[0].name, "x");
    end();
}

/* The keys of the contract, with what they say. */
static void json(void **state) {
    (void)state;
    static const char *const expected[] = {
        "\"snapshots\"",
        "\"why\": \"end\"",
        "\"phase\": null",
        "\"complete\": true",
        "\"duration_ns\": 5000000",
        "\"name\": \"history[*]\"",
        "\"kind\": \"module\"",
        "\"module\": \"__main__\"",
        "\"function\": null",
        "\"file\": \"/tmp/train.py\"",
        "\"line\": null",
        "\"role\": \"parameters\"",
        "\"by\": \"reference\"",
        "\"used_for\": {",
        "\"parameters\": 4096",
        "\"gradients\": 0",
        "\"bytes\": 4096",
        "\"count\": 1",
        "\"unowned_bytes\": 0",
        "\"unowned_count\": 0",
        "\"owner\": \"",
        "\"owners\": [",
    };
    char *text = NULL;
    size_t length;
    struct vt_format_options how = {0};
    start();
    uint32_t history = step(module(), VT_STEP_NAME, "history", "list");
    owner_at(many(history, VT_STEP_INDEX, "Buffer"), VT_ROLE_PARAMETER);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find("json")->write(&model, &how, out), 0);
    fclose(out);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(text, expected[i]))
            fail_msg("no %s in %s", expected[i], text);
    free(text);
    end();
}

/* What the exit scan found no pointer to, but a reference cycle holds, is not lost. */
static void cycles_are_not_lost(void **state) {
    (void)state;
    start();
    uint64_t held = block(100), lost = block(300);
    uint64_t listed[] = {vt_lost_entry(held, VT_SPACE_DEVICE),
                         vt_lost_entry(lost, VT_SPACE_DEVICE)};
    uint32_t cycle = step(0, VT_STEP_CYCLE, "Node", NULL);
    own(held, step(cycle, VT_STEP_ATTRIBUTE, "buffer", "Buffer"), 0);
    snapshot();
    struct vt_rec_lost l = {.count = 2};
    put_parts(&m, 0, &l, sizeof l, VT_REC_LOST, listed, sizeof listed, NULL, 0);
    struct vt_rec_scan scan = {
        .looked_for = 2, .lost = 2, .threads = 1, .at = vt_scan_at(VT_TICKS_MASK)};
    put_parts(&m, 0, &scan, sizeof scan, VT_REC_SCAN, NULL, 0, NULL, 0);
    const struct vt_process *p = finish();
    assert_int_equal(p->sites[0].lost_count, 1);
    assert_int_equal(p->snapshots[0].owners[0].root.kind, VT_ROOT_CYCLE);
    end();
}

/* --- what people read --- */

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(list_of_arrays),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(layers),
                                       cmocka_unit_test(ended_by_an_exception),
                                       cmocka_unit_test(traceback_of_out_of_memory),
                                       cmocka_unit_test(containers_in_containers),
                                       cmocka_unit_test(members_of_a_set),
                                       cmocka_unit_test(lost_from_sight),
                                       cmocka_unit_test(sums),
                                       cmocka_unit_test(segments),
                                       cmocka_unit_test(broken_ways),
                                       cmocka_unit_test(one_owner_one_leak),
                                       cmocka_unit_test(which_snapshot),
                                       cmocka_unit_test(json),
                                       cmocka_unit_test(cycles_are_not_lost)};
    return cmocka_run_group_tests_name("owners", tests, maker_make_folder, maker_remove_folder);
}
