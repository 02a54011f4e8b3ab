/* SPDX-License-Identifier: MIT */
/*
 * vramtrace dump: a log's records in file order, one line each: offset, type, fields. It is for debugging vramtrace, so
 * it depends on little other code. It walks the chunks record by record, and shows where it cannot go on.
 */
#include "commands.h"
#include "cmd_input.h"
#include "logfile/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *kind_name(unsigned kind) {
    static const char *const names[] = {
        [VT_KIND_NONE] = "none",
        [VT_KIND_DEVICE] = "device",
        [VT_KIND_MANAGED] = "managed",
        [VT_KIND_POOL] = "pool",
        [VT_KIND_HOST] = "host",
        [VT_KIND_PHYSICAL] = "physical",
        [VT_KIND_PHYSICAL_HOST] = "physical_host",
        [VT_KIND_ARRAY] = "array",
        [VT_KIND_MIPMAP] = "mipmap",
        [VT_KIND_POOL_MANAGED] = "pool_managed",
        [VT_KIND_POOL_HOST] = "pool_host",
        [VT_KIND_GRAPH] = "graph",
        [VT_KIND_REGISTERED] = "registered",
        [VT_KIND_BLOCK] = "block",
    };
    return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "?";
}

/* Prints text from a log. Control characters, invalid UTF-8 and the text's closing character are
 * escaped. */
static void print_text(FILE *out, const char *label, const uint8_t *text, size_t length) {
    const char *at = (const char *)text;
    fprintf(out, " %s=\"", label);
    for (size_t left = strnlen(at, length); left;) {
        unsigned shown = *at == '"' || *at == '\\' ? 0 : vt_shown_length(at, left);
        if (shown)
            fwrite(at, 1, shown, out);
        else
            fprintf(out, "\\x%02x", (unsigned char)*at);
        at += shown ? shown : 1;
        left -= shown ? shown : 1;
    }
    fputc('"', out);
}

/* --- records, by their layout --- */

static void print_frame(FILE *out, uint64_t word) {
    if (vt_frame_is_caller(word))
        fprintf(out, " caller:%u", (unsigned)word);
    else if (word & VT_FRAME_PYTHON)
        fprintf(out, " py:%u:%u", (unsigned)(word >> 32 & 0x3fffffff), (unsigned)word);
    else
        fprintf(out, " %s0x%" PRIx64, word & VT_FRAME_INTERPRETER ? "i:" : "",
                (uint64_t)(word & ~VT_FRAME_INTERPRETER));
}

/* Prints an array, or only the part of it that a field counts. */
static void print_bytes(FILE *out, enum vt_record_show show, const char *label,
                        const uint8_t *bytes, size_t length) {
    if (show == VT_SHOW_NOT) {
        return;
    } else if (show == VT_SHOW_TEXT) {
        print_text(out, label, bytes, length);
    } else if (show == VT_SHOW_BYTES) {
        fprintf(out, " %s=", label);
        for (size_t i = 0; i < length; i++)
            fprintf(out, "%02x", bytes[i]);
    } else if (show == VT_SHOW_OWNERS) {
        for (struct vt_owned e; length; bytes += sizeof e, length -= sizeof e) {
            memcpy(&e, bytes, sizeof e);
            fprintf(out, " %u:0x%" PRIx64 ":step=%u,roles=0x%x,holders=%u",
                    vt_lost_space(e.allocation), vt_lost_address(e.allocation), e.step, e.roles,
                    e.holders);
        }
    } else {
        for (uint64_t word; length; bytes += sizeof word, length -= sizeof word) {
            memcpy(&word, bytes, sizeof word);
            if (show == VT_SHOW_FRAMES)
                print_frame(out, word);
            else
                fprintf(out, " %u:0x%" PRIx64, vt_lost_space(word), vt_lost_address(word));
        }
    }
}

static void print_field(FILE *out, const uint8_t *record, const struct vt_record_field *field) {
    enum vt_record_show show = field->each ? VT_SHOW_NUMBER : field->show;
    if (show == VT_SHOW_TEXT || show == VT_SHOW_BYTES) {
        print_bytes(out, show, field->name, record + field->offset, field->bytes);
        return;
    }
    uint64_t number = vt_record_number(record, field);
    if (show == VT_SHOW_NUMBER)
        fprintf(out, " %s=%" PRIu64, field->name, number);
    else if (show == VT_SHOW_SIGNED)
        fprintf(out, " %s=%" PRId64, field->name,
                field->bytes == 4 ? (int32_t)number : (int64_t)number);
    else if (show == VT_SHOW_HEX)
        fprintf(out, " %s=0x%" PRIx64, field->name, number);
    else if (show == VT_SHOW_SIZE)
        fprintf(out, " size=%" PRIu64 " context=%u", (uint64_t)(number & VT_SIZE_MASK),
                (unsigned)(number >> 48));
}

/* Prints the fields that all events have in their first two words. */
static void print_event(FILE *out, const struct vt_record_layout *layout, const uint8_t *record) {
    uint64_t word[2];
    memcpy(word, record, sizeof word);
    unsigned kind = vt_word_kind(word[0]), device = vt_when_device(word[1]);
    fprintf(out, " ticks=%" PRIu64, vt_when_ticks(word[1]));
    if (device == VT_DEVICE_HOST)
        fputs(" host", out);
    else if (device == VT_DEVICE_UNKNOWN)
        fputs(" device=?", out);
    else
        fprintf(out, " device=%u", device);
    const char *symbol = vt_hook_symbol(vt_word_hook(word[0]));
    if (symbol)
        fprintf(out, " %s", symbol);
    else
        fprintf(out, " hook=%u", vt_word_hook(word[0]));
    if (!strcmp(layout->kind, "kind"))
        fprintf(out, " kind=%s", kind_name(kind));
    else
        fprintf(out, " %s=%u", layout->kind, kind);
    fprintf(out, " stack=%u", vt_word_high(word[0]));
}

static void print_record(FILE *out, const uint8_t *record, uint32_t length) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    const struct vt_record_layout *layout = vt_record_layout(vt_word_type(word));
    if (!layout || !vt_record_is_whole(record, length)) {
        fprintf(out, "TYPE_%02x   length=%u%s", vt_word_type(word), length,
                layout ? " (too short for what it holds)" : " (unknown to this vramtrace)");
        return;
    }
    fprintf(out, "%-9s", layout->name);
    if (vt_word_type(word) == VT_REC_MODULE && vt_word_kind(word) & VT_MODULE_OTHER)
        fputs(" other", out);
    if (layout->kind)
        print_event(out, layout, record);
    for (const struct vt_record_field *field = layout->fields; field->name; field++)
        print_field(out, record, field);
    const uint8_t *part = record + layout->bytes;
    for (const struct vt_record_field *field = layout->fields; field->name; field++) {
        size_t bytes = field->each ? vt_record_number(record, field) * field->each : 0;
        if (field->each)
            print_bytes(out, field->show, field->part, part, bytes);
        part += bytes;
    }
}

/* --- the file --- */

static void print_header(FILE *out, const struct vt_log_header *h) {
    static const char *const drops[] = {"log_full", "nested", "no_memory", "log_lost",
                                        "stacks",   "live",   "unknown",   "bound"};
    fprintf(out,
            "%10u  HEADER    version=%u min=%u clock=%u pid=%u ppid=%u rank=%d flags=0x%x "
            "chunks=%" PRIu64,
            0u, h->version, h->version_min, h->clock, h->pid, h->ppid, h->rank, h->flags,
            h->chunks);
    fprintf(out,
            " start_ticks=%" PRIu64 " start_realtime_ns=%" PRIu64 " start_monotonic_ns=%" PRIu64,
            h->start_ticks, h->start_realtime_ns, h->start_monotonic_ns);
    fprintf(out, " calibration_ticks=%" PRIu64 " calibration_monotonic_ns=%" PRIu64,
            h->calibration_ticks, h->calibration_monotonic_ns);
    fprintf(out, " exit_kind=%u exit_status=%d exit_ticks=%" PRIu64, h->exit_kind, h->exit_status,
            h->exit_ticks);
    if (h->program_end == VT_PROGRAM_RUNS)
        fputs(" program_end=runs", out);
    else if (h->program_end)
        fprintf(out, " program_end=%" PRIu64, h->program_end);
    if (h->bound)
        fprintf(out, " bound=%" PRIu64 " kept_chunks=%" PRIu64, h->bound, h->kept_chunks);
    if (h->first_drop)
        fprintf(out, " first_drop=%" PRIu64, h->first_drop);
    if (h->bound_at)
        fprintf(out, " bound_at=%" PRIu64, h->bound_at);
    if (h->summary)
        fprintf(out, " summary=%" PRIu64, h->summary);
    for (int i = 0; i < VT_FREE_CHUNKS; i++)
        if (h->free_chunks[i])
            fprintf(out, " free=%u:%" PRIu64, vt_free_chunk_number(h->free_chunks[i]),
                    vt_free_chunk_generation(h->free_chunks[i]));
    for (int i = 0; i < VT_DROP_REASONS; i++)
        if (h->dropped[i])
            fprintf(out, " dropped_%s=%" PRIu64, drops[i], h->dropped[i]);
    print_text(out, "run_id", (const uint8_t *)h->run_id, sizeof h->run_id);
    print_text(out, "host", (const uint8_t *)h->host, sizeof h->host);
    print_text(out, "job", (const uint8_t *)h->job, sizeof h->job);
    if (h->launch[0])
        print_text(out, "launch", (const uint8_t *)h->launch, sizeof h->launch);
    if (h->local_rank || h->world_size || h->restart)
        fprintf(out, " local_rank=%d world_size=%u restart=%u", (int)h->local_rank - 1,
                h->world_size, h->restart);
    print_text(out, "tracer", (const uint8_t *)h->tracer, sizeof h->tracer);
    print_text(out, "exe", (const uint8_t *)h->exe, sizeof h->exe);
    print_text(out, "cwd", (const uint8_t *)h->cwd, sizeof h->cwd);
    fputs(" command=[", out);
    for (uint32_t at = 0; at < h->command_bytes;) {
        size_t length = strnlen(h->command + at, h->command_bytes - at);
        print_text(out, at ? "," : "", (const uint8_t *)h->command + at, length);
        at += (uint32_t)length + 1;
    }
    fputs(" ]\n", out);
}

static void print_slots(FILE *out, uint64_t base, const uint8_t *bytes, uint32_t have) {
    struct vt_log_slots slots = {0};
    memcpy(&slots, bytes, have < sizeof slots ? have : sizeof slots);
    fprintf(out, "%10" PRIu64 "  SLOTS     number=%" PRIu64 " before=%" PRIu64 " taken=%u\n", base,
            slots.number, slots.before, slots.taken);
    for (uint32_t i = 0; i < VT_SLOTS; i++)
        if (slots.slot[i].tid || slots.slot[i].entered_at)
            fprintf(out, "%10" PRIu64 "  SLOT      tid=%u entered_at=%" PRIu64 "\n",
                    base + offsetof(struct vt_log_slots, slot) + i * sizeof slots.slot[0],
                    slots.slot[i].tid, slots.slot[i].entered_at);
}

static void print_chunk(FILE *out, uint64_t number, const uint8_t *bytes, uint32_t have) {
    struct vt_chunk_header head;
    uint64_t base = number * VT_CHUNK_BYTES;
    if (have < sizeof head) {
        fprintf(out,
                "%10" PRIu64
                "  CUT       the file ends within a chunk's header, %u bytes into it\n",
                base, have);
        return;
    }
    memcpy(&head, bytes, sizeof head);
    if (head.magic == 0)
        return;
    if (head.magic == VT_SLOTS_MAGIC) {
        print_slots(out, base, bytes, have);
        return;
    }
    fprintf(out, "%10" PRIu64 "  CHUNK     number=%" PRIu64 " tid=%u entered_at=%" PRIu64 "%s",
            base, head.number, head.tid, head.entered_at,
            vt_chunk_is_finished(&head) ? " finished" : "");
    if (head.generation)
        fprintf(out, " generation=%" PRIu64 " taken=%" PRIu64, head.generation, head.taken);
    fputs(head.magic == VT_CHUNK_MAGIC ? "\n" : " (wrong magic: skipped)\n", out);
    if (head.magic != VT_CHUNK_MAGIC)
        return;
    struct vt_short_records records;
    vt_short_records_start(&records, bytes, have);
    uint8_t record[VT_RECORD_MAX_BYTES];
    uint32_t offset = records.offset, length;
    for (; (length = vt_short_records_next(&records, record)); offset = records.offset) {
        fprintf(out, "%10" PRIu64 "  ", base + offset);
        print_record(out, record, length);
        fputc('\n', out);
    }
    if (records.what) {
        uint64_t word;
        memcpy(&word, bytes + offset, sizeof word);
        fprintf(out,
                "%10" PRIu64 "  DAMAGED   %s: found 0x%016" PRIx64
                "; the rest of the chunk is skipped\n",
                base + offset, records.what, word);
    } else if (have < VT_CHUNK_BYTES) {
        fprintf(out, "%10" PRIu64 "  CUT       the file ends within a chunk, at %" PRIu64 "\n",
                base + offset, base + have);
    }
}

/* Prints LOG.nvml, with offsets in that file. */
static void print_nvml(FILE *out, const char *path, const struct vt_log_header *header) {
    struct vt_nvml_file file;
    vt_nvml_file_read(path, header, &file);
    if (file.fault)
        fprintf(out, "%10u  NVML      %s\n", 0u, vt_printable(file.fault));
    if (file.bytes) {
        fprintf(out, "%10u  NVML     ", 0u);
        print_text(out, "file", (const uint8_t *)file.path, strlen(file.path));
        fputc('\n', out);
    }
    uint32_t offset = sizeof(struct vt_nvml_header), length;
    const char *what = NULL;
    for (; file.bytes && (length = vt_log_next(file.bytes, offset, file.end, &what));
         offset += length) {
        fprintf(out, "%10u  ", offset);
        print_record(out, file.bytes + offset, length);
        fputc('\n', out);
    }
    if (what)
        fprintf(out, "%10u  DAMAGED   %s; the rest of the file is left out\n", offset, what);
    vt_nvml_file_free(&file);
}

static int dump(const char *path, FILE *out) {
    struct vt_log_header header;
    struct vt_string message = {0};
    uint64_t file_bytes;
    VT_SCOPED_FD fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, NULL, &message);
    if (fd < 0 || vt_log_read_header(fd, path, &header, &file_bytes, &message))
        return vt_error_status(1, &message);
    print_header(out, &header);
    VT_SCOPED uint8_t *bytes = vt_alloc(VT_CHUNK_BYTES, 1);
    int error = 0;
    for (uint64_t number = 1; number * VT_CHUNK_BYTES < file_bytes && !ferror(out); number++) {
        uint32_t have;
        error = vt_log_copy_chunk(fd, path, (uint32_t)number, bytes, &have, &message);
        if (error || !have)
            break;
        print_chunk(out, number, bytes, have);
    }
    if (!error)
        print_nvml(out, path, &header);
    return vt_error_status(error, &message);
}

static int dump_all(void *to, char *const *arguments, int count) {
    const char *run = *(const char **)to;
    struct vt_logs logs;
    struct vt_string message = {0};
    int status = vt_error_status(vt_logs_find(arguments, count, run, &logs, &message), &message);
    for (uint32_t i = 0; !status && i < logs.count; i++) {
        VT_SCOPED char *path = vt_printable(vt_strdup(logs.paths[i]));
        if (logs.count > 1)
            vt_print(stdout, "%s%s:\n", i ? "\n" : "", path);
        status = dump(logs.paths[i], stdout);
    }
    vt_logs_free(&logs);
    return status ? status : vt_output_close(NULL, NULL, 0);
}

int vt_cmd_dump(int argc, char **argv) {
    static const struct vt_option rows[] = {
        {"run", " ID", "in a folder: the run whose id begins with this, or all", vt_parse_text,
         .at = 0},
        VT_OPTION_HELP,
        {.name = NULL},
    };
    static const struct vt_options options = {
        .command = "dump",
        .usage =
            "usage: vramtrace dump [options] [LOG...]\n"
            "\n"
            "Prints a log's records, one per line, in file order: offset, type, fields. Times\n"
            "are ticks since the start. Damaged and cut-off chunks are marked. LOG is a log,\n"
            "or a folder, which stands for its newest run. Default: the newest run here.\n"
            "\n",
        .all = {{.rows = rows}},
        .run = dump_all,
    };
    const char *run = NULL;
    return vt_options_run(&options, argc, argv, &run);
}
