/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the analyzer's commands and their options. The input is a command line, one word a
 * line: "report", "--top", "5", "log". The files that it may name are `log` (a good one, with
 * phases), `rules`, `baseline` and `classes`. Of `run`, the options are parsed, but nothing is run.
 */
#define _GNU_SOURCE
#include "files.h"

#include "build.h"
#include "commands.h"
#include "run/run_options.h"
#include "tests/unit/analyzer/log_maker.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int parse_run(int argc, char **argv) {
    struct vt_run_options options;
    int status = vt_run_options_parse(argc, argv, &vt_builder, &options);
    if (!status)
        status = vt_check_ready(&options.check);
    vt_run_options_free(&options);
    return status;
}

static const struct vt_command commands[] = {
    {"report", "", vt_cmd_report}, {"check", "", vt_cmd_check}, {"diff", "", vt_cmd_diff},
    {"dump", "", vt_cmd_dump},     {"run", "", parse_run},
};

/* A log with a phase "epoch", and an allocation that it leaves. */
static void make_log(void) {
    struct vt_maker maker;
    maker_start(&maker);
    maker_device(&maker, 0, 0, 1 << 30, "GPU");
    struct {
        struct vt_rec_name record;
        char text[8];
    } name = {{.number = 1, .text_bytes = 5}, "epoch"};
    name.record.word = vt_word(VT_REC_NAME, 0, 0, sizeof name);
    maker_put(&maker, 0, &name, sizeof name);
    for (uint64_t i = 0; i < 4; i++) {
        struct vt_rec_phase phase = {
            .word = vt_word(VT_REC_PHASE, i % 2 ? VT_PHASE_POP : VT_PHASE_PUSH, 0, 0),
            .when = vt_when(VT_DEVICE_UNKNOWN, 1000 * (i + 1)),
            .began = 1000 * (i - i % 2 + 1),
            .range = i / 2 + 1,
            .name = 1};
        maker_put(&maker, 0, &phase, sizeof phase);
        maker_alloc(&maker, 0, 1000 * (i + 1) + 10, VT_KIND_DEVICE, 2, 0, 0, 4096 * (i + 1), 4096,
                    1);
    }
    maker_free_at(&maker, 0, 6000, VT_KIND_NONE, 4096);
    vt_fuzz_file_write("log", maker.bytes, maker.length);
    maker_free(&maker);
}

static void make_files(void) {
    static const char rules[] = "# a rule\nleak:libown.so\n";
    static const char baseline[] =
        "vramtrace-baseline 1\nleak driver cuMemAlloc: 1 bytes in 1 blocks\n  main own.c\n";
    static const char classes[] = "cache function own::* Own\n";
    make_log();
    vt_fuzz_file_write("rules", rules, sizeof rules - 1);
    vt_fuzz_file_write("baseline", baseline, sizeof baseline - 1);
    vt_fuzz_file_write("classes", classes, sizeof classes - 1);
}

/* getopt keeps its position in a cluster of letters; a process has only one command line. */
static void forget_last_words(void) {
    char word[] = "x", *words[] = {word, NULL};
    optind = 0;
    getopt(1, words, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { WORDS = 32 };
    char *text = vt_strndup((const char *)data, size), *rest = text, *words[WORDS + 1];
    int count = 0;
    static bool made;
    if (!made)
        make_files();
    made = true;
    for (char *word; count < WORDS && (word = strsep(&rest, "\n"));)
        words[count++] = word;
    words[count] = NULL;
    forget_last_words();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(words[0], commands[i].name))
            commands[i].entry(count, words);
    free(text);
    return 0;
}
