/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit: would a recorded run fit on another card, with other settings, or if scaled? Parses its options,
 * builds the model, chooses the process and the device with the highest need, and calls fit/.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "fit/fit.h"
#include "report/report.h"

#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct vt_input input;
    struct vt_texts confs;
    struct vt_fit_options fit;
    uint32_t memory_room, scale_room;
    bool json;
};

/* Parses sizes. A usual card's nominal size ("24G") means that card. */
static int parse_memory(const struct vt_given_option *given) {
    enum { LEAST = 1 << 20 };
    struct options *o = given->field;
    VT_SCOPED char *list = vt_strdup(given->value);
    for (char *rest = list, *word; (word = strsep(&rest, ","));) {
        struct vt_fit_memory memory = {0};
        if (vt_text_read_size(word, &memory.bytes) || memory.bytes < LEAST)
            return vt_usage("fit", "--memory '%.60s': expected sizes of cards, such as 24G,40G%s",
                            given->value, memory.bytes ? "; a number alone is in bytes" : "");
        memory.usable_bytes = memory.bytes;
        for (const struct vt_fit_card *card = vt_fit_cards; card->name; card++)
            if (card->bytes == memory.bytes && strpbrk(word, "gG"))
                memory.usable_bytes = card->usable_bytes;
        *VT_ADD(o->fit.memory, o->fit.memory_count, o->memory_room) = memory;
    }
    return 0;
}

static int parse_scale(const struct vt_given_option *given) {
    static const char *const scopes[] = {
        [VT_FIT_ROLE] = "role:", [VT_FIT_OWNER] = "owner:", [VT_FIT_SITE] = "site:"};
    struct options *o = given->field;
    const char *text = given->value, *equals = strrchr(text, '=');
    char *end = NULL;
    double factor = equals ? strtod(equals + 1, &end) : -1;
    for (unsigned i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        size_t length = strlen(scopes[i]);
        if (strncmp(text, scopes[i], length) || !(factor >= 0 && factor < 1e6) || *end ||
            end == equals + 1)
            continue;
        *VT_ADD(o->fit.scales, o->fit.scale_count, o->scale_room) = (struct vt_fit_scale){
            .text = text,
            .scope = (enum vt_fit_scope)i,
            .name = vt_strndup(text + length, (size_t)(equals - text) - length),
            .factor = factor};
        return 0;
    }
    return vt_usage(
        "fit",
        "--scale %.60s: expected role:NAME=FACTOR, owner:NAME=FACTOR or site:ID=FACTOR, "
        "such as role:activations=2; FACTOR is below 1000000",
        text);
}

/* The process and the device with the largest peak. NULL: no process used a device. */
static const struct vt_device *choose(const struct vt_model *model, const struct vt_process **of) {
    const struct vt_device *most = NULL;
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].device_count; j++) {
            const struct vt_device *d = &model->processes[i].devices[j];
            if (most && d->peak_bytes <= most->peak_bytes)
                continue;
            most = d;
            *of = &model->processes[i];
        }
    return most;
}

static void write_text(const struct vt_fit *fit) {
    struct vt_doc doc = {0};
    vt_fit_document(fit, &doc);
    vt_doc_show(&doc, vt_wants_colour(1), stdout);
    vt_doc_free(&doc);
}

static int answer(const struct options *o, const struct vt_model *model) {
    const struct vt_process *process = NULL;
    const struct vt_device *device = choose(model, &process);
    struct vt_fit fit;
    VT_SCOPED_STRING message = {0};
    if (!device) {
        vt_error("%s: no GPU memory was allocated", model->processes[0].log);
        return VT_STATUS_USAGE;
    }
    vt_progress_allow();
    int error = vt_fit_make(model, process, device, &o->fit, &fit, &message);
    vt_progress_end();
    if (!error && o->json)
        vt_fit_json(&fit, stdout);
    else if (!error)
        write_text(&fit);
    vt_fit_free(&fit);
    return error ? vt_error_status(error, &message) : vt_output_close(NULL, NULL, 0);
}

static int fit(void *to, char *const *arguments, int count) {
    struct options *o = to;
    struct vt_logs logs;
    struct vt_model model;
    o->fit.confs = o->confs.items;
    o->fit.conf_count = (uint32_t)o->confs.count;
    if (count > 1)
        return vt_usage("fit", "expected one log or folder, found %d", count);
    int status = vt_input_build(&o->input, arguments, count, &logs, &model);
    if (status)
        return status;
    status = answer(o, &model);
    vt_build_free(&model);
    vt_logs_free(&logs);
    return status;
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"memory", " SIZE,...",
     "cards of these sizes: 24G,40G; for known cards the usable memory counts", parse_memory,
     .at = 0},
    {"conf", " STRING",
     "settings of PyTorch's allocator, as in PYTORCH_ALLOC_CONF; may be repeated, for a row each",
     vt_parse_texts, AT(confs)},
    {"scale", " role:NAME=FACTOR",
     "multiply the memory of a role (activations, batch, ...), an owner (owner:NAME) or a call "
     "site "
     "(site:ID) by FACTOR; the most specific wins; may be repeated",
     parse_scale, .at = 0},
    {"format", " text|json", "json: schema vramtrace-fit/1", vt_parse_json, AT(json)},
    {"device", " N", "this GPU; default: the one that needs most", vt_input_parse_device,
     AT(input.model.device)},
    {"own", " PATTERN", "your own code: frames whose function, file or module match",
     vt_parse_texts, AT(input.user_code)},
    {"run", " ID", "in a folder: the run whose id begins with this", vt_parse_text, AT(input.run)},
    VT_OPTION_HELP,
    {.name = NULL},
};

int vt_cmd_fit(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "fit",
        .usage = "usage: vramtrace fit [options] [LOG]\n"
                 "\n"
                 "Would this run fit: on which cards, with which settings of PyTorch's allocator,\n"
                 "scaled how? Replays the run in a model of the allocator, first as it was\n"
                 "recorded: `check:` shows the model's error. LOG is a log, or a folder, which\n"
                 "stands for its newest run. Default: the newest run here.\n"
                 "\n",
        .all = {{.rows = rows}},
        .run = fit,
    };
    struct options o = {.input = {.model = {.device = -1}}};
    int status = vt_options_run(&options, argc, argv, &o);
    for (uint32_t i = 0; i < o.fit.scale_count; i++)
        free(o.fit.scales[i].name);
    free(o.fit.scales);
    free(o.fit.memory);
    free(o.confs.items);
    free(o.input.user_code.items);
    return status;
}
