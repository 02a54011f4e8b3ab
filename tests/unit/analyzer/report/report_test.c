/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a log made for the test: verdicts, leaks, own frames, fragmentation,
 * causes; the JSON's keys and its encoding, the text's width; sizes and their parsing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "build.h"
#include "report/formats.h"
#include "tests/unit/sizes.h"
#include "tests/unit/analyzer/log_maker.c"
#include "model/user_code.h"
#include "model/frame_text.h"

#include <unistd.h>

static const char *const path = maker_path;

static void build(struct vt_maker *m, const struct vt_model_options *options,
                  struct vt_model *model) {
    const char *logs[] = {path};
    struct vt_string message = {0};
    assert_int_equal(maker_save(m, path), 0);
    assert_int_equal(vt_build_model(logs, 1, options, model, &message), 0);
}

static char *write_as(const struct vt_model *model, const char *format) {
    char *text = NULL;
    size_t length;
    struct vt_format_options how = {0};
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vt_format_find(format)->write(model, &how, out), 0);
    fclose(out);
    assert_int_equal(strlen(text), length);
    return text;
}

/* Two native call sites on one line, one elsewhere, one freed, pinned memory, two refusals. */
static void make_log(struct vt_maker *m) {
    uint64_t a[] = {0x401000, 0x402000}, b[] = {0x401000, 0x403000}, c[] = {0x404000};
    maker_start(m);
    maker_module(m, 0, 0, 0x400000, 0x500000, 0x400000, "id", 2, "/opt/app \xff\"\n/program");
    maker_stack(m, 0, 1, a, 2);
    maker_stack(m, 0, 2, b, 2);
    maker_stack(m, 0, 3, c, 1);
    maker_device(m, 0, 0, 1000000, "GPU \x01\xe2\x82");
    maker_alloc(m, 0, 1000, VT_KIND_DEVICE, 1000, 0, 1, 0x1000, 300000, 0);
    maker_alloc(m, 0, 2000, VT_KIND_DEVICE, 1000, 0, 2, 0x100000, 400000, 0);
    maker_alloc(m, 0, 3000, VT_KIND_DEVICE, 1000, 0, 3, 0x200000, 100000, 0);
    maker_fail(m, 0, 3500, 0, 3, 200001, 2);
    maker_fail(m, 0, 3600, 0, 3, 200000, 2);
    maker_free_at(m, 0, 4000, VT_KIND_DEVICE, 0x200000);
    maker_alloc(m, 0, 5000, VT_KIND_HOST, 16, VT_DEVICE_HOST, 3, 0x5000, 4096, 0);
}

static void verdicts_and_leaks(void **state) {
    struct vt_model_options options = {.device = -1};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    make_log(&m);
    build(&m, &options, &model);
    const struct vt_process *p = &model.processes[0];
    assert_int_equal(p->site_count, 4);
    assert_int_equal(p->sites[0].live_bytes, 400000);
    assert_int_equal(p->sites[0].verdict, VT_VERDICT_UNFREED);
    assert_int_equal(p->sites[3].live_bytes, 0);
    assert_int_equal(p->sites[3].verdict, VT_VERDICT_FREED);
    assert_string_equal(p->sites[3].why, "its only allocation was freed");
    assert_string_equal(p->sites[0].api, "cudaMalloc");
    /* both sites at 0x401000 are one leak; the pinned one is another */
    assert_int_equal(p->leak_count, 2);
    assert_int_equal(p->leaks[0].live_bytes, 700000);
    assert_int_equal(p->leaks[0].site_count, 2);
    assert_int_equal(p->leaks[0].sites[0], 0);
    assert_int_equal(p->devices[0].peak_bytes, 800000);
    assert_int_equal(p->devices[0].peak_at_ns, 3000);
    assert_int_equal(p->devices[0].failed_count, 2);
    assert_int_equal(p->oom_count, 2);
    /* 800000 held + 200001 asked > 1000000; one byte less and something else is to blame */
    assert_int_equal(p->ooms[0].cause, VT_CAUSE_CAPACITY);
    assert_null(p->ooms[1].cause);
    assert_int_equal(p->ooms[0].holder_count, 3);
    assert_int_equal(p->sites[p->ooms[0].holders[2]].verdict, VT_VERDICT_FREED);
    vt_build_free(&model);
    /* a Python process: unfreed memory fails no gate, so it is no leak */
    maker_code(&m, 0, 1, 1, "f", "x.py");
    build(&m, &options, &model);
    assert_int_equal(model.processes[0].leak_count, 0);
    assert_int_equal(model.processes[0].sites[0].verdict, VT_VERDICT_UNFREED);
    vt_build_free(&model);
    maker_free(&m);
}

static void device_filter(void **state) {
    struct vt_model_options options = {.device = 1};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    make_log(&m);
    maker_alloc(&m, 0, 6000, VT_KIND_DEVICE, 2, 1, 3, 0x300000, 5, 0);
    build(&m, &options, &model);
    const struct vt_process *p = &model.processes[0];
    assert_int_equal(p->device_count, 1);
    assert_int_equal(p->devices[0].ordinal, 1);
    assert_int_equal(p->site_count, 2); /* its own, and the pinned one */
    assert_int_equal(p->oom_count, 0);
    vt_build_free(&model);
    maker_free(&m);
}

static void moments(void **state) {
    struct vt_model_options options = {.device = -1, .until = "50%"};
    const char *const bad[] = {"", "x", "-1s", "101%", "5 s", "1d", "epoch#3", "nan"};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    make_log(&m);
    build(&m, &options, &model);
    assert_int_equal(model.processes[0].window_until, 2500);
    assert_int_equal(model.processes[0].events, 2);
    vt_build_free(&model);
    options.until = NULL;
    options.since = "2.5us";
    build(&m, &options, &model);
    assert_int_equal(model.processes[0].devices[0].alloc_count, 1);
    assert_int_equal(model.processes[0].devices[0].peak_bytes, 800000);
    vt_build_free(&model);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *logs[] = {path};
        struct vt_string message = {0};
        options.since = bad[i];
        assert_int_equal(vt_build_model(logs, 1, &options, &model, &message), -EINVAL);
        assert_non_null(strstr(message.text, "--since"));
        vt_string_free(&message);
    }
    maker_free(&m);
}

/* Blocks of 300 and 100 in a segment of 1000, with gaps of 100, 200 and 300; another segment holds
 * none. */
static void fragmentation(void **state) {
    struct vt_model_options options = {.device = -1};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    maker_start(&m);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x10000, 1000, 0);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x90000, 5000, 0);
    build(&m, &options, &model);
    assert_int_equal(model.processes[0].devices[0].fragmentation.reserved_bytes, 6000);
    assert_int_equal(model.processes[0].devices[0].fragmentation.free_bytes, 0);
    assert_true(model.processes[0].devices[0].fragmentation.ratio == 0);
    vt_build_free(&model);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2, 0, 0, 0x10000 + 100, 300, 0);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2, 0, 0, 0x10000 + 600, 100, 0);
    build(&m, &options, &model);
    const struct vt_fragmentation *f = &model.processes[0].devices[0].fragmentation;
    assert_int_equal(f->reserved_bytes, 1000);
    assert_int_equal(f->in_use_bytes, 400);
    assert_int_equal(f->free_bytes, 600);
    assert_int_equal(f->largest_free_bytes, 300);
    assert_true(f->ratio == 0.5);
    vt_build_free(&model);
    /* a block that lies in nothing that was seen is counted, said, and no part of this */
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2, 0, 0, 0x50, 100, 0);
    build(&m, &options, &model);
    assert_true(model.processes[0].devices[0].fragmentation.ratio == 0.5);
    assert_int_equal(model.processes[0].devices[0].fragmentation.in_use_bytes, 400);
    assert_int_equal(model.processes[0].devices[0].blocks.live_bytes, 500);
    assert_int_equal(model.processes[0].note_count, 1);
    vt_build_free(&model);
    maker_free(&m);
    /* all blocks lie in nothing that was seen: nothing is known */
    maker_start(&m);
    maker_alloc(&m, 0, 0, VT_KIND_DEVICE, 2, 0, 0, 0x10000, 1000, 0);
    maker_alloc(&m, 0, 0, VT_KIND_BLOCK, 2, 0, 0, 0x50, 100, 0);
    build(&m, &options, &model);
    assert_true(model.processes[0].devices[0].fragmentation.ratio < 0);
    assert_true(model.processes[0].devices[0].fragmentation.reserved_bytes == VT_UNKNOWN);
    vt_build_free(&model);
    maker_free(&m);
}

static void json(void **state) {
    static const char *const keys[] = {
        "schema",
        "processes",
        "log",
        "run_id",
        "pid",
        "host",
        "rank",
        "command",
        "started_at",
        "duration_ns",
        "simulated",
        "version",
        "exit",
        "kind",
        "status",
        "complete",
        "events",
        "dropped_events",
        "devices",
        "device",
        "uuid",
        "name",
        "total_bytes",
        "live_bytes",
        "live_count",
        "peak_bytes",
        "peak_at_ns",
        "allocated_bytes",
        "alloc_count",
        "free_count",
        "failed_count",
        "driver_used_bytes",
        "untracked_bytes",
        "other_processes_bytes",
        "fragmentation",
        "reserved_bytes",
        "in_use_bytes",
        "free_bytes",
        "largest_free_bytes",
        "ratio",
        "pinned_host",
        "leaks",
        "verdict",
        "why",
        "advice",
        "own_frame",
        "sites",
        "growth",
        "site",
        "reachable",
        "api",
        "layer",
        "bytes_at_peak",
        "first_at_ns",
        "last_at_ns",
        "stack",
        "function",
        "file",
        "line",
        "module",
        "offset",
        "language",
        "own",
        "ooms",
        "at_ns",
        "outcome",
        "requested_bytes",
        "tracked_bytes",
        "cached_bytes",
        "cause",
        "holders",
        "objects",
        "phases",
    };
    struct vt_model_options options = {.device = -1};
    struct vt_maker m;
    struct vt_model model;
    (void)state;
    make_log(&m);
    build(&m, &options, &model);
    char *text = write_as(&model, "json");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\":", keys[i]);
        if (!strstr(text, quoted))
            fail_msg("no key %s", quoted);
    }
    for (size_t left = strlen(text), at = 0; left;) {
        unsigned bytes = vt_utf8_length(text + at, left);
        assert_int_not_equal(bytes, 0);
        at += bytes;
        left -= bytes;
    }
    assert_non_null(strstr(text, "\"schema\": \"vramtrace-report/1\""));
    assert_non_null(strstr(text, "/opt/app \\ufffd\\\"\\n/program"));
    assert_non_null(strstr(text, "\"GPU \\u0001\\ufffd\\ufffd\""));
    assert_non_null(strstr(text, "\"started_at\": \"2025-11-21T09:00:00.000Z\""));
    assert_non_null(strstr(text, "\"rank\": null"));
    assert_non_null(strstr(text, "\"uuid\": \"GPU-30313233-3435-3637-3839-616263646566\""));
    free(text);
    vt_build_free(&model);
    maker_free(&m);
}

static void text_is_80_wide(void **state) {
    struct vt_model_options options = {.device = -1};
    struct vt_maker m;
    struct vt_model model;
    char name[3000];
    (void)state;
    make_log(&m);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    maker_code(&m, 0, 1, 1, name, name);
    uint64_t frame = vt_frame_python(1, 123456);
    maker_stack(&m, 0, 50, &frame, 1);
    maker_alloc(&m, 0, 6000, VT_KIND_DEVICE, 2, 0, 50, 0x300000, 1ull << 40, 0);
    build(&m, &options, &model);
    char *text = write_as(&model, "text");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        /* the hints are commands to be copied, and hold the log's path as it is */
        if (vt_frame_text_columns(line) > 80 && !strstr(line, "vramtrace report"))
            fail_msg("%u columns: %s", vt_frame_text_columns(line), line);
    free(text);
    vt_build_free(&model);
    maker_free(&m);
}

static void own_frames(void **state) {
    static const struct {
        struct vt_frame frame;
        bool own;
    } rows[] = {
        {{.module = "/home/me/train", .function = "main"}, true},
        {{.module = "/home/me/train", .function = "_start"}, false},
        {{.module = "/usr/local/cuda/lib64/libcudart.so.12", .function = "cudaMalloc"}, false},
        {{.module = "/lib/x86_64-linux-gnu/libc.so.6"}, false},
        {{.module = "/lib/libc-2.31.so"}, false},
        {{.module = "/home/me/libcache.so"}, true},
        {{.module = "/home/me/libcudamine.so"}, true},
        {{.module = "/usr/lib/x86_64-linux-gnu/libcublasLt.so.12"}, false},
        {{.module = "/usr/bin/python3.11", .function = "_PyEval_EvalFrameDefault"}, false},
        {{.module = "/home/me/v/lib/python3.12/site-packages/x/_x.so"}, false},
        {{.module = "/home/me/app", .file = "/usr/include/c++/12/bits/stl_vector.h"}, false},
        {{.module = "/opt/x/libtorch_cuda.so"}, false},
        {{.python = true, .file = "/home/me/train.py"}, true},
        {{.python = true, .file = "train.py"}, true},
        {{.python = true, .file = "/usr/lib/python3/dist-packages/numba/cuda/api.py"}, false},
        {{.python = true, .file = "/usr/lib/python3.11/threading.py"}, false},
        {{.python = true, .file = "<frozen importlib._bootstrap>"}, false},
        {{.python = true, .file = "<string>"}, true},
        {{.python = true, .file = "/home/me/python3.11/train.py"}, true},
        {{.module = NULL, .offset = 5}, false},
        {{.module = "/home/me/train", .interpreter = true}, false},
    };
    static const char *const patterns[] = {"numba", "torch*::empty", NULL};
    struct vt_frame numba = {.python = true,
                             .file = "/usr/lib/python3/dist-packages/numba/cuda/api.py"};
    struct vt_frame torch = {.module = "/opt/x/libtorch_cuda.so",
                             .function = "at::torch_x::empty_y"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (vt_user_code_frame(&rows[i].frame, NULL) != rows[i].own)
            fail_msg("row %zu: %s %s", i, rows[i].frame.module, rows[i].frame.file);
    assert_true(vt_user_code_frame(&numba, patterns));
    assert_true(vt_user_code_frame(&torch, patterns));
}

static void functions_in_short(void **state) {
    static const char *const rows[][2] = {
        {"main", "main"},
        {"app::step(int)", "app::step"},
        {"app::Cache<unsigned long>::keep(unsigned long)", "app::Cache<...>::keep"},
        {"(anonymous namespace)::f(std::vector<int, std::allocator<int> >&) const",
         "(anonymous namespace)::f"},
        {"Foo::operator()(int) const", "Foo::operator()"},
        {"bool ns::operator< <int>(int)", "ns::operator< <...>"},
        {"void fill<float>(float*, unsigned long)", "fill<...>"},
        {"a::B<int, 1>* a::make<a::B<int, 1> >(unsigned long)", "a::make<...>"},
        {"decltype (f(1)) a::g<int>(int)", "a::g<...>"},
        {"auto (anonymous namespace)::g<int>(int)", "(anonymous namespace)::g<...>"},
        {"a::apply<main(int, char**)::<lambda()> >", "a::apply<...>"},
        {"main(int, char**)::<lambda()>", "main::<lambda()>"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"void A::f(int) const::{lambda()#1}::operator()<int>(int)",
         "A::f::{lambda()#1}::operator()<...>"},
        {"std::vector<int>::operator[](unsigned long)", "std::vector<...>::operator[]"},
        {"A<int>::operator std::map<int, int>() const", "A<...>::operator std::map<...>"},
        {"operator new(unsigned long)", "operator new"},
        {"P<int>::operator->() const", "P<...>::operator->"},
        {"std::ostream& operator<< <char>(std::ostream&)", "operator<< <...>"},
        {"f(int) [clone .part.0]", "f"},
        {"my_operator(int)", "my_operator"},
        {"broken<int", "broken<...>"},
        {"<unknown>", "<unknown>"},
        {"", ""},
        {"run(void (*)(int))", "run"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_frame frame = {.function = rows[i][0]};
        char *text = vt_frame_text_function(&frame);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
}

static void functions_of_python(void **state) {
    static const char *const rows[][2] = {
        {"Net.step", "Net.step"},
        {"torch_dynamo_resume_in_step_at_9", "step"},
        {"Net.torch_dynamo_resume_in_look_at_me_at_120", "Net.look_at_me"},
        {"torch_dynamo_resume_in_step_at_", "torch_dynamo_resume_in_step_at_"},
        {"torch_dynamo_resume_in__at_9", "torch_dynamo_resume_in__at_9"},
        {"f.<locals>.<lambda>", "f.<locals>.<lambda>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_frame frame = {.function = rows[i][0], .python = true};
        char *text = vt_frame_text_function(&frame);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
}

/* What does not fit loses its namespaces, not its name. */
static void long_names_in_place(void **state) {
    static const struct {
        const char *function, *text;
        unsigned width;
        bool python;
    } rows[] = {
        {"far::away::inside::Buffer<int>::Buffer(int)", "x.cu:5 in ...Buffer<...>::Buffer", 34,
         false},
        {"far::away::inside::Buffer<int>::Buffer(int)", "x.cu:5 in ...Buffer", 28, false},
        {"far::away::inside::Buffer<int>::Buffer(int)",
         "x.cu:5 in far::away::inside::Buffer<...>::Buffer", 60, false},
        {"a::an_extremely_long_name_of_a_function", "x.cu:5 in ...an_extr...", 23, false},
        {"Loader.staging_buffer", "x.cu:5 in Loader.staging_buffer", 31, true},
        {"Loader.staging_buffer", "x.cu:5 in ...staging_buffer", 30, true},
        {"Net.__init__.<locals>.<lambda>", "x.cu:5 in ...<locals>.<lambda>", 32, true},
    };
    (void)state;
    struct vt_process process = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vt_frame frame = {.function = rows[i].function,
                                 .file = "x.cu",
                                 .line = 5,
                                 .module = "x",
                                 .python = rows[i].python};
        char *text = vt_frame_text(&process, &frame, rows[i].width);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

static void sizes(void **state) {
    char out[VT_FORMAT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof size_texts / sizeof *size_texts; i++)
        assert_string_equal(vt_format_bytes(size_texts[i].bytes, out), size_texts[i].text);
    assert_string_equal(vt_format_duration(14000000, out), "0.014 s");
    assert_string_equal(vt_format_duration(9999400000, out), "9.999 s");
    assert_string_equal(vt_format_duration(7022000000000, out), "1:57:02");
    assert_string_equal(vt_format_count(2911440, out), "2,911,440");
    assert_string_equal(vt_format_count(999, out), "999");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_leaks),
        cmocka_unit_test(device_filter),
        cmocka_unit_test(moments),
        cmocka_unit_test(fragmentation),
        cmocka_unit_test(json),
        cmocka_unit_test(text_is_80_wide),
        cmocka_unit_test(own_frames),
        cmocka_unit_test(functions_in_short),
        cmocka_unit_test(functions_of_python),
        cmocka_unit_test(long_names_in_place),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, maker_make_folder, maker_remove_folder);
}
