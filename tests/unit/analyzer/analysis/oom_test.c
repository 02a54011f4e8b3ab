/* SPDX-License-Identifier: MIT */
/*
 * Causes, outcomes and classes on logs made for the test: what the simulated GPU cannot show, above
 * all real devices, where what others hold is an estimate; frameworks that refuse by themselves; the
 * list of classes and a user's file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/analyzer/log_maker.c"
#include "build.h"
#include "model/model.h"

#include <unistd.h>

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static char path[64], classes[64];

static int make_folder(void **state) {
    static char folder[] = "/tmp/vt_oom_XXXXXX";
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/log.vtl", folder);
    snprintf(classes, sizeof classes, "%s/classes", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    unlink(classes);
    *strrchr(path, '/') = 0;
    return rmdir(path);
}

static const struct vt_process *build(struct vt_maker *m, struct vt_model *model,
                                      const char *classes_file) {
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1, .classes = classes_file};
    struct vt_string message = {0};
    assert_int_equal(maker_save(m, path), 0);
    assert_int_equal(vt_build_model(logs, 1, &options, model, &message), 0);
    return &model->processes[0];
}

static void put_variable(struct vt_maker *m, const char *name, const char *value) {
    struct vt_rec_env r = {0, (uint32_t)strlen(name), (uint32_t)strlen(value)};
    put_parts(m, 0, &r, sizeof r, VT_REC_ENV, name, r.name_bytes, value, r.value_bytes);
}

static void put_cacheoom(struct vt_maker *m, unsigned thread, uint64_t requested) {
    struct vt_rec_cacheoom r = {vt_word(VT_REC_CACHEOOM, VT_KIND_BLOCK, 2000, 0), when(m, 0, 0),
                                requested, 0, 0};
    maker_put(m, thread, &r, sizeof r);
}

static void put_cacheinfo(struct vt_maker *m, uint64_t allocated, uint64_t reserved) {
    struct vt_rec_cacheinfo r = {vt_word(VT_REC_CACHEINFO, VT_KIND_BLOCK, 2000, 0), when(m, 0, 0),
                                 allocated, reserved};
    maker_put(m, 0, &r, sizeof r);
}

/* A device of 24 GiB; other processes hold some of it. */
static enum vt_oom_cause cause_with(uint64_t others, uint64_t held, uint64_t asked,
                                    bool info_after) {
    enum vt_oom_cause cause;
    struct vt_maker m;
    struct vt_model model;
    maker_start(&m);
    if (!info_after)
        maker_meminfo(&m, 0, 0, 0, 24 * GIB - others, 24 * GIB);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x10000000, held, 0);
    maker_fail(&m, 0, 0, 0, 0, asked, 2);
    if (info_after)
        maker_meminfo(&m, 0, 0, 0, 24 * GIB - others - held, 24 * GIB);
    const struct vt_process *p = build(&m, &model, NULL);
    assert_int_equal(p->oom_count, 1);
    assert_int_equal(p->ooms[0].free_bytes, 24 * GIB - others - held);
    cause = p->ooms[0].cause;
    vt_build_free(&model);
    maker_free(&m);
    return cause;
}

static void real_devices(void **state) {
    (void)state;
    for (int after = 0; after < 2; after++) {
        /* a context's 400 MiB are no other process */
        assert_int_equal(cause_with(400 * MIB, 20 * GIB, 3900 * MIB, after), VT_CAUSE_CAPACITY);
        assert_int_equal(cause_with(16 * GIB, 2 * GIB, 8 * GIB, after), VT_CAUSE_OTHER_PROCESS);
        /* alone it would not fit either */
        assert_int_equal(cause_with(2 * GIB, 20 * GIB, 5 * GIB, after), VT_CAUSE_CAPACITY);
        /* the driver had room, and refused: it maps scattered pages as one piece */
        assert_int_equal(cause_with(400 * MIB, 2 * GIB, 8 * GIB, after), VT_CAUSE_UNKNOWN);
    }
}

/* What became of failures, thread by thread. */
static void outcomes(void **state) {
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    maker_start(&m);
    maker_device(&m, 0, 0, GIB, "GPU");
    maker_fail(&m, 0, 0, 0, 0, 500, 2); /* recovered */
    maker_fail(&m, 1, 0, 0, 0, 900, 2); /* raised */
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x10000, 600, 0);
    maker_fail(&m, 2, 0, 0, 0, 700, 2); /* smaller follows */
    maker_alloc(&m, 2, 0, VT_KIND_DEVICE, 2, 0, 0, 0x20000, 600, 0);
    maker_fail(&m, 3, 0, 0, 0, 800, 2); /* two tries at one request, which a framework gives up */
    maker_fail(&m, 3, 0, 0, 0, 800, 2);
    put_cacheoom(&m, 3, 750);
    put_cacheoom(&m, 4, 100); /* by itself, without asking */
    const struct vt_process *p = build(&m, &model, NULL);
    assert_int_equal(p->oom_count, 5);
    assert_int_equal(p->ooms[0].outcome, VT_OOM_RECOVERED);
    assert_null(p->ooms[0].advice);
    assert_int_equal(p->ooms[1].outcome, VT_OOM_RAISED);
    assert_int_equal(p->ooms[2].outcome, VT_OOM_UNKNOWN);
    assert_int_equal(p->ooms[3].outcome, VT_OOM_RAISED);
    assert_int_equal(p->ooms[3].attempts, 2);
    assert_int_equal(p->ooms[3].requested_bytes, 750);
    assert_int_equal(p->ooms[3].driver_requested_bytes, 800);
    assert_string_equal(p->ooms[3].allocator, "PyTorch");
    assert_int_equal(p->ooms[4].cause, VT_CAUSE_LIMIT);
    assert_int_equal(p->ooms[4].attempts, 0);
    assert_true(p->ooms[4].driver_requested_bytes == VT_UNKNOWN);
    assert_non_null(strstr(p->ooms[4].advice, "set_per_process_memory_fraction"));
    assert_int_equal(p->devices[0].failed_count, 5);
    vt_build_free(&model);
    maker_unended(&m);
    p = build(&m, &model, NULL);
    assert_int_equal(p->ooms[1].outcome, VT_OOM_UNKNOWN); /* the log ends first */
    vt_build_free(&model);
    maker_free(&m);
}

/* A site in `module`, of 100 bytes. */
static const struct vt_site *classed(struct vt_maker *m, struct vt_model *model, const char *module,
                                     const char *variable, const char *value, unsigned kind,
                                     const char *file) {
    uint64_t frames[] = {0x401000, 0x501000};
    maker_start(m);
    if (variable)
        put_variable(m, variable, value);
    maker_module(m, 0, 0, 0x400000, 0x500000, 0x400000, "a", 1, module);
    maker_module(m, 0, 0, 0x500000, 0x600000, 0x500000, "b", 1, "/opt/app/program");
    maker_stack(m, 0, 1, frames, 2);
    maker_alloc(m, 0, 0, kind, 2, 0, 1, 0x10000, 100, 0);
    return &build(m, model, file)->sites[0];
}

static void classes_of_memory(void **state) {
    static const struct {
        const char *module, *variable, *value;
        unsigned kind;
        enum vt_class class;
        const char *name;
    } rows[] = {
        {"/x/lib/libc10_cuda.so", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_CACHE, "PyTorch"},
        {"/x/lib/libc10_cuda.so", "PYTORCH_NO_CUDA_MEMORY_CACHING", "0", VT_KIND_DEVICE,
         VT_CLASS_PROGRAM, NULL},
        {"/x/lib/libc10_cuda.so", NULL, NULL, VT_KIND_POOL, VT_CLASS_PROGRAM, NULL},
        {"/x/libcublasLt.so.12", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_RUNTIME, "cuBLAS"},
        {"/x/libcublas.so.12", NULL, NULL, VT_KIND_POOL, VT_CLASS_RUNTIME, "cuBLAS"},
        {"/x/libnccl.so.2", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_RUNTIME, "NCCL"},
        {"/p/jax_plugins/xla_cuda12/xla_cuda_plugin.so", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_CACHE,
         "XLA"},
        {"/p/jax_plugins/xla_cuda12/xla_cuda_plugin.so", "XLA_PYTHON_CLIENT_ALLOCATOR", "platform",
         VT_KIND_DEVICE, VT_CLASS_PROGRAM, NULL},
        {"/p/tensorflow/libtensorflow_framework.so.2", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_CACHE,
         "TensorFlow"},
        {"/p/cupy/cuda/memory.cpython-311-x86_64-linux-gnu.so", NULL, NULL, VT_KIND_DEVICE,
         VT_CLASS_CACHE, "CuPy"},
        {"/p/other/memory.cpython-311-x86_64-linux-gnu.so", NULL, NULL, VT_KIND_DEVICE,
         VT_CLASS_PROGRAM, NULL},
        {"/x/libmine.so", NULL, NULL, VT_KIND_DEVICE, VT_CLASS_PROGRAM, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_maker m;
        struct vt_model model;
        const struct vt_site *site = classed(&m, &model, rows[i].module, rows[i].variable,
                                             rows[i].value, rows[i].kind, NULL);
        assert_int_equal(site->class, rows[i].class);
        if (rows[i].name)
            assert_string_equal(site->class_name, rows[i].name);
        else
            assert_null(site->class_name);
        assert_int_equal(site->verdict, rows[i].class == VT_CLASS_CACHE     ? VT_VERDICT_CACHE
                                        : rows[i].class == VT_CLASS_RUNTIME ? VT_VERDICT_RUNTIME
                                                                            : VT_VERDICT_UNFREED);
        assert_int_equal(model.processes[0].leak_count, rows[i].class == VT_CLASS_PROGRAM);
        vt_build_free(&model);
        maker_free(&m);
    }
}

static void write_classes(const char *text) {
    FILE *out = fopen(classes, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void users_classes(void **state) {
    static const char *const bad[] = {"cache module\n", "cached module x\n", "cache lib x\n",
                                      "# fine\ncache\n"};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    write_classes("# ours\n\n  cache module libmine.so*   My pool  # why\n"
                  "program module libc10_cuda*\n"
                  "runtime module */solvers/*\n");
    const struct vt_site *site =
        classed(&m, &model, "/x/libmine.so.1", NULL, NULL, VT_KIND_DEVICE, classes);
    assert_int_equal(site->class, VT_CLASS_CACHE);
    assert_string_equal(site->class_name, "My pool");
    vt_build_free(&model);
    maker_free(&m);
    site = classed(&m, &model, "/x/libc10_cuda.so", NULL, NULL, VT_KIND_DEVICE, classes);
    assert_int_equal(site->class, VT_CLASS_PROGRAM);
    assert_int_equal(site->verdict, VT_VERDICT_UNFREED);
    vt_build_free(&model);
    maker_free(&m);
    site = classed(&m, &model, "/opt/solvers/libs.so", NULL, NULL, VT_KIND_DEVICE, classes);
    assert_string_equal(site->class_name, "*/solvers/*");
    vt_build_free(&model);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *logs[] = {path};
        struct vt_model_options options = {.device = -1, .classes = classes};
        struct vt_string message = {0};
        write_classes(bad[i]);
        assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), -EINVAL);
        assert_non_null(
            strstr(message.text, i == 3 ? "classes:2: expected" : "classes:1: expected"));
        vt_string_free(&message);
    }
    const char *logs[] = {path};
    struct vt_model_options options = {.device = -1, .classes = "/nowhere/classes"};
    struct vt_string message = {0};
    assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), -ENOENT);
    assert_non_null(strstr(message.text, "/nowhere/classes"));
    vt_string_free(&message);
    maker_free(&m);
}

/* Blocks are where their segment is; what the framework counts is held against them. */
static void blocks(void **state) {
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 1, 0, 0x100000, 1000, 0);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, 0x100000, 300, VT_CONTEXT_UNKNOWN);
    put_cacheinfo(&m, 300, 1000);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, 0x100000 + 400, 100, VT_CONTEXT_UNKNOWN);
    const struct vt_process *p = build(&m, &model, NULL);
    const struct vt_device *d = &p->devices[p->device_count - 1];
    assert_int_equal(d->ordinal, 1);
    assert_int_equal(d->blocks.live_bytes, 400);
    assert_int_equal(d->blocks.at_peak_bytes, 400);
    assert_int_equal(d->fragmentation.free_bytes, 600);
    assert_int_equal(d->fragmentation.largest_free_bytes, 500);
    assert_int_equal(d->fragmentation.worst.pinned_bytes, 700);
    /* the framework spoke of another device, which has nothing */
    assert_int_equal(p->device_count, 1);
    assert_true(d->blocks.reported_allocated == VT_UNKNOWN);
    assert_int_equal(p->note_count, 0);
    vt_build_free(&model);
    /* their memory goes under them; then the framework's count is another */
    maker_free_at(&m, 0, 0, VT_KIND_DEVICE, 0x100000);
    put_cacheinfo(&m, 17, 0);
    p = build(&m, &model, NULL);
    d = &p->devices[p->device_count - 1];
    assert_int_equal(d->blocks.live_bytes, 0);
    assert_int_equal(d->fragmentation.reserved_bytes, 0);
    assert_int_equal(p->note_count, 2);
    assert_non_null(strstr(p->notes[0], "2 blocks of a caching allocator were live"));
    assert_non_null(strstr(p->notes[1], "disagreed with the log"));
    vt_build_free(&model);
    maker_free(&m);
}

/* A segment of nine blocks, which go: all but one, or all. What a process frees after it last asked for
 * memory is no fragmentation; but where a request is refused then, it is. */
static void frees_on_the_way_out(void **state) {
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x100000, 1000, 0);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, 0x100000, 200, VT_CONTEXT_UNKNOWN);
    for (uint64_t i = 2; i < 10; i++)
        maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2000, 0, 0, 0x100000 + i * 100, 100,
                    VT_CONTEXT_UNKNOWN);
    for (uint64_t i = 0; i < 10; i++)
        if (i != 1 && i != 5)
            maker_free_at(&m, 0, 0, VT_KIND_BLOCK, 0x100000 + i * 100);
    const struct vt_fragmentation *f = &build(&m, &model, NULL)->devices[0].fragmentation;
    assert_int_equal(f->free_bytes, 900);
    assert_int_equal(f->last.reserved_bytes, 1000);
    assert_int_equal(f->last.in_use_bytes, 1000);
    assert_int_equal(f->worst.pinned_bytes, 800); /* by its first block */
    assert_int_equal(f->worst.largest_free_bytes, 800);
    vt_build_free(&model);
    maker_fail(&m, 0, 0, 0, 0, 800, 2);
    maker_free_at(&m, 0, 0, VT_KIND_BLOCK, 0x100000 + 500);
    f = &build(&m, &model, NULL)->devices[0].fragmentation;
    assert_int_equal(f->worst.pinned_bytes, 900);
    assert_int_equal(f->free_bytes, 1000);
    assert_int_equal(f->last.in_use_bytes, 100);
    assert_int_equal(f->last.largest_free_bytes, 500);
    vt_build_free(&model);
    maker_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_devices),         cmocka_unit_test(outcomes),
        cmocka_unit_test(frees_on_the_way_out), cmocka_unit_test(classes_of_memory),
        cmocka_unit_test(users_classes),        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
