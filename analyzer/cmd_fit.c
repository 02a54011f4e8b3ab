/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit: would a recorded run fit on another card, with other settings, with what scaled? Parses
 * its options, builds the model, chooses the process and the device that need most, and asks fit/.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "fit/fit.h"

#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct vt_input input;
    struct vt_texts memory, confs, scales;
    bool json;
};

/* What the options ask for, read. */
struct wishes {
    struct vt_fit_wishes fit;
    struct vt_fit_memory *memory;
    uint32_t memory_room, scale_room;
};

static void free_wishes(struct wishes *w) {
    for (uint32_t i = 0; i < w->fit.scale_count; i++)
        free(w->fit.scales[i].name);
    free(w->fit.scales);
    free(w->memory);
}

/* A size as people name a card ("24G") is a usual card's. */
static struct vt_fit_memory memory_of(uint64_t bytes, const char *text) {
    struct vt_fit_memory memory = {.bytes = bytes, .usable_bytes = bytes};
    for (const struct vt_fit_card *card = vt_fit_cards; card->name; card++)
        if (card->bytes == bytes && strpbrk(text, "gG")) {
            memory.card = card;
            memory.usable_bytes = card->usable_bytes;
        }
    return memory;
}

static int read_memory(struct wishes *w, const char *list) {
    while (*list) {
        uint64_t bytes;
        size_t length = strcspn(list, ",");
        VT_SCOPED char *word = vt_strndup(list, length);
        if (vt_text_read_size(word, &bytes) || !bytes)
            return vt_usage("fit", "--memory %s: expected sizes of cards, such as 24G,40G", word);
        *VT_ADD(w->memory, w->fit.memory_count, w->memory_room) = memory_of(bytes, word);
        list += length + (list[length] == ',');
    }
    return 0;
}

static int read_scale(struct wishes *w, const char *text) {
    struct vt_fit_scale *scale = VT_ADD(w->fit.scales, w->fit.scale_count, w->scale_room);
    return vt_fit_scale_read(text, scale)
               ? 0
               : vt_usage("fit",
                          "--scale %s: expected role:NAME=FACTOR, owner:NAME=FACTOR or "
                          "site:ID=FACTOR, such as role:activations=2",
                          text);
}

static int read_wishes(const struct options *o, struct wishes *w) {
    int status = 0;
    for (size_t i = 0; i < o->memory.count && !status; i++)
        status = read_memory(w, o->memory.items[i]);
    for (size_t i = 0; i < o->scales.count && !status; i++)
        status = read_scale(w, o->scales.items[i]);
    w->fit.memory = w->memory;
    w->fit.confs = o->confs.items;
    w->fit.conf_count = (uint32_t)o->confs.count;
    return status;
}

/* The process and the device that held most. NULL: no process used one. */
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

static int answer(const struct options *o, const struct wishes *w, const struct vt_model *model) {
    const struct vt_process *process = NULL;
    const struct vt_device *device = choose(model, &process);
    struct vt_fit fit;
    VT_SCOPED_STRING message = {0};
    if (!device) {
        vt_error("%s: no GPU memory was allocated", model->processes[0].log);
        return VT_STATUS_USAGE;
    }
    vt_progress_allow();
    int error = vt_fit_make(process, device, &w->fit, &fit, &message);
    vt_progress_end();
    fit.processes = model->process_count;
    if (!error && o->json)
        vt_fit_json(&fit, stdout);
    else if (!error)
        vt_fit_text(&fit, vt_wants_colour(1), stdout);
    vt_fit_free(&fit);
    return error ? vt_error_status(error, &message) : vt_output_close(NULL, stdout, 0);
}

static int fit(void *to, char *const *arguments, int count) {
    struct options *o = to;
    struct wishes wishes = {0};
    struct vt_logs logs;
    struct vt_model model;
    int status = count > 1 ? vt_usage("fit", "expected one log or folder, found %d", count)
                           : read_wishes(o, &wishes);
    if (!status)
        status = vt_input_build(&o->input, arguments, count, &logs, &model);
    if (!status) {
        status = answer(o, &wishes, &model);
        vt_build_free(&model);
        vt_logs_free(&logs);
    }
    free_wishes(&wishes);
    return status;
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"memory", " SIZE,...",
     "cards of these sizes: 24G,40G; of a usual card counts what its driver leaves to programs",
     vt_take_texts, AT(memory)},
    {"conf", " STRING",
     "settings of PyTorch's allocator, as in PYTORCH_ALLOC_CONF; may be repeated, for a row each",
     vt_take_texts, AT(confs)},
    {"scale", " role:NAME=FACTOR",
     "this memory times FACTOR: of a role (activations, batch, ...), an owner (owner:NAME), a call "
     "site (site:ID); the most specific wins; may be repeated",
     vt_take_texts, AT(scales)},
    {"format", " text|json", "json: schema vramtrace-fit/1", vt_take_json, AT(json)},
    {"device", " N", "this GPU; default: the one that needs most", vt_input_take_device,
     AT(input.model.device)},
    {"own", " PATTERN", "your own code: frames whose function, file or module match", vt_take_texts,
     AT(input.user_code)},
    {"run", " ID", "in a folder: the run whose id begins with this", vt_take_text, AT(input.run)},
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
                 "recorded: how far that is off stands in the second line. LOG is a log, or a\n"
                 "folder, which stands for its newest run. Default: the newest run here.\n"
                 "\n",
        .all = {{.rows = rows}},
        .run = fit,
    };
    struct options o = {.input = {.model = {.device = -1}}};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.input.user_code.items);
    free(o.memory.items);
    free(o.confs.items);
    free(o.scales.items);
    return status;
}
