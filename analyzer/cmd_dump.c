/* SPDX-License-Identifier: MIT */
/*
 * vramtrace dump: a log's records, one a line, in the order of the file: offset, type, fields. For
 * debugging the tool itself, so it uses as little of the rest as it can: it walks the chunks with
 * the reader's own rule and says where that stops.
 */
#include "commands.h"
#include "log/find_logs.h"
#include "log/hooks.h"
#include "log/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: vramtrace dump [LOG...]\n"
    "\n"
    "Prints a log's records, one a line, in the order of the file: offset, type, fields. Times\n"
    "are ticks since the start. Says where a chunk is damaged or ends. Without LOG: the newest\n"
    "run in the current folder; a folder: its newest run (--run ID|all).\n";

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

/* Text of a log, made harmless for a terminal. */
static void print_text(FILE *out, const char *label, const uint8_t *text, size_t length) {
    fprintf(out, " %s=\"", label);
    for (size_t i = 0; i < length && text[i]; i++) {
        if (text[i] < 0x20 || text[i] == 0x7f || text[i] == '"')
            fprintf(out, "\\x%02x", text[i]);
        else
            fputc(text[i], out);
    }
    fputc('"', out);
}

/* --- records of fixed length --- */

static void print_hook(FILE *out, uint64_t word) {
    const char *symbol = vt_hook_symbol(vt_word_hook(word));
    if (symbol)
        fprintf(out, " %s", symbol);
    else
        fprintf(out, " hook=%u", vt_word_hook(word));
}

static void print_event(FILE *out, const uint8_t *record) {
    static const char *const types[] = {
        [VT_REC_ALLOC] = "ALLOC",       [VT_REC_FREE] = "FREE",
        [VT_REC_FAIL] = "FAIL",         [VT_REC_FREE_FAIL] = "FREE_FAIL",
        [VT_REC_BULK] = "BULK",         [VT_REC_MEMINFO] = "MEMINFO",
        [VT_REC_OBJECT] = "OBJECT",     [VT_REC_CACHEINFO] = "CACHEINFO",
        [VT_REC_POOLINFO] = "POOLINFO", [VT_REC_MAP] = "MAP",
        [VT_REC_CACHEOOM] = "CACHEOOM", [VT_REC_PHASE] = "PHASE",
        [VT_REC_SAMPLE] = "SAMPLE"};
    union {
        uint64_t word[8];
        struct vt_rec_alloc alloc;
        struct vt_rec_free free;
        struct vt_rec_fail fail;
        struct vt_rec_free_fail free_fail;
        struct vt_rec_bulk bulk;
        struct vt_rec_meminfo meminfo;
        struct vt_rec_object object;
        struct vt_rec_poolinfo poolinfo;
        struct vt_rec_map map;
        struct vt_rec_cacheinfo cacheinfo;
        struct vt_rec_cacheoom cacheoom;
        struct vt_rec_phase phase;
        struct vt_rec_sample sample;
    } u = {{0}};
    uint64_t word;
    memcpy(&word, record, sizeof word);
    unsigned type = vt_word_type(word), kind = vt_word_kind(word);
    memcpy(&u, record, vt_record_fixed_bytes(type));
    fprintf(out, "%-9s ticks=%" PRIu64, types[type], vt_when_ticks(u.word[1]));
    unsigned device = vt_when_device(u.word[1]);
    if (device == VT_DEVICE_HOST)
        fputs(" host", out);
    else if (device == VT_DEVICE_UNKNOWN)
        fputs(" device=?", out);
    else
        fprintf(out, " device=%u", device);
    print_hook(out, word);
    if (type == VT_REC_OBJECT || type == VT_REC_PHASE)
        fprintf(out, " %s=%u", type == VT_REC_OBJECT ? "object" : "event", kind);
    else if (type == VT_REC_POOLINFO)
        fprintf(out, " figure=%u", kind);
    else
        fprintf(out, " kind=%s", kind_name(kind));
    fprintf(out, " stack=%u", vt_word_high(word));
    switch (type) {
    case VT_REC_ALLOC:
        fprintf(out, " address=0x%" PRIx64 " size=%" PRIu64 " context=%u", u.alloc.address,
                (uint64_t)(u.alloc.size_context & VT_SIZE_MASK),
                (unsigned)(u.alloc.size_context >> 48));
        break;
    case VT_REC_FREE:
        fprintf(out, " address=0x%" PRIx64, u.free.address);
        break;
    case VT_REC_FAIL:
        fprintf(out, " size=%" PRIu64 " result=%d flags=%u", u.fail.size, u.fail.result,
                u.fail.flags);
        break;
    case VT_REC_FREE_FAIL:
        fprintf(out, " address=0x%" PRIx64 " result=%d", u.free_fail.address, u.free_fail.result);
        break;
    case VT_REC_BULK:
        fprintf(out, " context=%u teardown=%u bytes=%" PRIu64, u.bulk.context, u.bulk.teardown,
                u.bulk.bytes);
        break;
    case VT_REC_MEMINFO:
        fprintf(out, " free=%" PRIu64 " total=%" PRIu64, u.meminfo.free_bytes,
                u.meminfo.total_bytes);
        break;
    case VT_REC_CACHEINFO:
        fprintf(out, " allocated=%" PRIu64 " reserved=%" PRIu64, u.cacheinfo.allocated,
                u.cacheinfo.reserved);
        break;
    case VT_REC_CACHEOOM:
        fprintf(out, " requested=%" PRIu64 " allocated=%" PRIu64 " reserved=%" PRIu64,
                u.cacheoom.requested, u.cacheoom.allocated, u.cacheoom.reserved);
        break;
    case VT_REC_PHASE:
        fprintf(out, " began=%" PRIu64 " range=%" PRIu64 " name=%u domain=%u", u.phase.began,
                u.phase.range, u.phase.name, u.phase.domain);
        break;
    case VT_REC_POOLINFO:
        fprintf(out, " pool=0x%" PRIx64 " bytes=%" PRIu64, u.poolinfo.pool, u.poolinfo.bytes);
        break;
    case VT_REC_MAP:
        fprintf(out, " address=0x%" PRIx64 " size=%" PRIu64 " number=%" PRIu64, u.map.address,
                u.map.size, u.map.number);
        break;
    case VT_REC_SAMPLE:
        fprintf(out,
                " began=%" PRIu64 " gpu=%u used=%" PRIu64 " free=%" PRIu64 " own=%" PRId64
                " others=%" PRId64 " processes=%u",
                u.sample.began, u.sample.gpu, u.sample.used_bytes, u.sample.free_bytes,
                (int64_t)u.sample.own_bytes, (int64_t)u.sample.others_bytes, u.sample.others);
        break;
    case VT_REC_OBJECT:
        fprintf(out, " handle=0x%" PRIx64 " flags=%u context=%u", u.object.handle, u.object.flags,
                u.object.context);
        break;
    }
}

/* --- records that say their length --- */

static void print_stack(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_stack r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "STACK     number=%u frames=%u flags=%u", r.number, r.frames, r.flags);
    for (uint32_t i = 0, at = sizeof r; i < r.frames && at + 8 <= length; i++, at += 8) {
        uint64_t word;
        memcpy(&word, record + at, sizeof word);
        if (word & VT_FRAME_PYTHON)
            fprintf(out, " py:%u:%u", (unsigned)(word >> 32 & 0x3fffffff), (unsigned)word);
        else
            fprintf(out, " %s0x%" PRIx64, word & VT_FRAME_INTERPRETER ? "i:" : "",
                    (uint64_t)(word & ~VT_FRAME_INTERPRETER));
    }
}

static void print_module(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_module r;
    memcpy(&r, record, sizeof r);
    fprintf(out,
            "MODULE    ticks=%" PRIu64 " start=0x%" PRIx64 " end=0x%" PRIx64 " bias=0x%" PRIx64,
            r.ticks, r.start, r.end, r.bias);
    if ((uint64_t)r.build_id_bytes + r.path_bytes > length - sizeof r)
        return;
    fputs(" build_id=", out);
    for (uint32_t i = 0; i < r.build_id_bytes; i++)
        fprintf(out, "%02x", record[sizeof r + i]);
    print_text(out, "path", record + sizeof r + r.build_id_bytes, r.path_bytes);
}

static void print_device(FILE *out, const uint8_t *record) {
    struct vt_rec_device r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "DEVICE    ordinal=%u total=%" PRIu64 " uuid=", r.ordinal, r.total_bytes);
    if (r.flags & VT_DEVICE_HAS_UUID)
        for (int i = 0; i < 16; i++)
            fprintf(out, "%02x", r.uuid[i]);
    else
        fputc('?', out);
    print_text(out, "name", (const uint8_t *)r.name, sizeof r.name);
}

static void print_code(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_code r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "CODE      number=%u first_line=%u", r.number, r.first_line);
    if ((uint64_t)r.name_bytes + r.file_bytes > length - sizeof r)
        return;
    print_text(out, "name", record + sizeof r, r.name_bytes);
    print_text(out, "file", record + sizeof r + r.name_bytes, r.file_bytes);
}

static void print_thread(FILE *out, const uint8_t *record) {
    struct vt_rec_thread r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "THREAD    tid=%u", r.tid);
    print_text(out, "name", (const uint8_t *)r.name, sizeof r.name);
}

static void print_note(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_note r;
    memcpy(&r, record, sizeof r);
    fputs("NOTE     ", out);
    if (r.text_bytes <= length - sizeof r)
        print_text(out, "text", record + sizeof r, r.text_bytes);
}

static void print_variable(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_env r;
    memcpy(&r, record, sizeof r);
    fputs("ENV      ", out);
    if ((uint64_t)r.name_bytes + r.value_bytes > length - sizeof r)
        return;
    print_text(out, "name", record + sizeof r, r.name_bytes);
    print_text(out, "value", record + sizeof r + r.name_bytes, r.value_bytes);
}

static void print_name(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_name r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "NAME      number=%u", r.number);
    if (r.text_bytes <= length - sizeof r)
        print_text(out, "text", record + sizeof r, r.text_bytes);
}

static void print_scan(FILE *out, const uint8_t *record) {
    struct vt_rec_scan r;
    memcpy(&r, record, sizeof r);
    fprintf(out,
            "SCAN      bytes=%" PRIu64 " ns=%" PRIu64 " looked_for=%u lost=%u threads=%u flags=%u "
            "unread_pages=%u",
            r.bytes, r.ns, r.looked_for, r.lost, r.threads, r.flags, r.unread_pages);
}

static void print_gpu(FILE *out, const uint8_t *record) {
    struct vt_rec_gpu r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "GPU       number=%u ordinal=%u total=%" PRIu64 " uuid=", r.number, r.ordinal,
            r.total_bytes);
    for (int i = 0; i < 16; i++)
        fprintf(out, "%02x", r.uuid[i]);
    print_text(out, "name", (const uint8_t *)r.name, sizeof r.name);
}

static void print_lost(FILE *out, const uint8_t *record, uint32_t length) {
    struct vt_rec_lost r;
    memcpy(&r, record, sizeof r);
    fprintf(out, "LOST      count=%u", r.count);
    for (uint32_t i = 0, at = sizeof r; i < r.count && at + 8 <= length; i++, at += 8) {
        uint64_t entry;
        memcpy(&entry, record + at, sizeof entry);
        fprintf(out, " %u:0x%" PRIx64, vt_lost_space(entry), vt_lost_address(entry));
    }
}

static void print_described(FILE *out, const uint8_t *record, uint32_t length) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    unsigned type = vt_word_type(word);
    size_t least = type == VT_REC_STACK    ? sizeof(struct vt_rec_stack)
                   : type == VT_REC_MODULE ? sizeof(struct vt_rec_module)
                   : type == VT_REC_CODE   ? sizeof(struct vt_rec_code)
                   : type == VT_REC_THREAD ? sizeof(struct vt_rec_thread)
                   : type == VT_REC_DEVICE ? sizeof(struct vt_rec_device)
                   : type == VT_REC_NOTE   ? sizeof(struct vt_rec_note)
                   : type == VT_REC_NAME   ? sizeof(struct vt_rec_name)
                   : type == VT_REC_SCAN   ? sizeof(struct vt_rec_scan)
                   : type == VT_REC_LOST   ? sizeof(struct vt_rec_lost)
                   : type == VT_REC_ENV    ? sizeof(struct vt_rec_env)
                   : type == VT_REC_GPU    ? sizeof(struct vt_rec_gpu)
                                           : 0;
    if (!least || length < least)
        fprintf(out, "TYPE_%02x   length=%u%s", type, length,
                least ? " (too short for its type)" : " (unknown to this vramtrace)");
    else if (type == VT_REC_STACK)
        print_stack(out, record, length);
    else if (type == VT_REC_MODULE)
        print_module(out, record, length);
    else if (type == VT_REC_CODE)
        print_code(out, record, length);
    else if (type == VT_REC_THREAD)
        print_thread(out, record);
    else if (type == VT_REC_DEVICE)
        print_device(out, record);
    else if (type == VT_REC_NOTE)
        print_note(out, record, length);
    else if (type == VT_REC_SCAN)
        print_scan(out, record);
    else if (type == VT_REC_LOST)
        print_lost(out, record, length);
    else if (type == VT_REC_ENV)
        print_variable(out, record, length);
    else if (type == VT_REC_GPU)
        print_gpu(out, record);
    else
        print_name(out, record, length);
}

/* --- the file --- */

static void print_header(FILE *out, const struct vt_log_header *h) {
    static const char *const drops[] = {"log_full", "nested", "no_memory", "log_lost",
                                        "stacks",   "live",   "unknown",   "?"};
    fprintf(out,
            "%10u  HEADER    version=%u min=%u clock=%u pid=%u ppid=%u rank=%d flags=0x%x "
            "chunks=%" PRIu64 " events=%" PRIu64,
            0u, h->version, h->version_min, h->clock, h->pid, h->ppid, h->rank, h->flags, h->chunks,
            h->events);
    fprintf(out,
            " start_ticks=%" PRIu64 " start_realtime_ns=%" PRIu64 " start_monotonic_ns=%" PRIu64,
            h->start_ticks, h->start_realtime_ns, h->start_monotonic_ns);
    fprintf(out, " calibration_ticks=%" PRIu64 " calibration_monotonic_ns=%" PRIu64,
            h->calibration_ticks, h->calibration_monotonic_ns);
    fprintf(out, " exit_kind=%u exit_status=%d exit_ticks=%" PRIu64, h->exit_kind, h->exit_status,
            h->exit_ticks);
    for (int i = 0; i < VT_DROP_REASONS; i++)
        if (h->dropped[i])
            fprintf(out, " dropped_%s=%" PRIu64, drops[i], h->dropped[i]);
    print_text(out, "run_id", (const uint8_t *)h->run_id, sizeof h->run_id);
    print_text(out, "host", (const uint8_t *)h->host, sizeof h->host);
    print_text(out, "job", (const uint8_t *)h->job, sizeof h->job);
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
    fprintf(out, "%10" PRIu64 "  CHUNK     number=%" PRIu64 " tid=%u entered_at=%" PRIu64 "%s\n",
            base, head.number, head.tid, head.entered_at,
            head.magic == VT_CHUNK_MAGIC ? "" : " (wrong magic: left out)");
    if (head.magic != VT_CHUNK_MAGIC)
        return;
    uint32_t offset = sizeof head, length;
    const char *what;
    for (; (length = vt_log_next(bytes, offset, have, &what)); offset += length) {
        uint64_t word;
        memcpy(&word, bytes + offset, sizeof word);
        fprintf(out, "%10" PRIu64 "  ", base + offset);
        if (vt_word_type(word) < 0x80)
            print_event(out, bytes + offset);
        else
            print_described(out, bytes + offset, length);
        fputc('\n', out);
    }
    if (what) {
        uint64_t word;
        memcpy(&word, bytes + offset, sizeof word);
        fprintf(out,
                "%10" PRIu64 "  DAMAGED   %s: found 0x%016" PRIx64
                "; the rest of the chunk is left out\n",
                base + offset, what, word);
    } else if (have < VT_CHUNK_BYTES) {
        fprintf(out, "%10" PRIu64 "  CUT       the file ends within a chunk, at %" PRIu64 "\n",
                base + offset, base + have);
    }
}

static int dump(const char *path, FILE *out) {
    struct vt_log_header header;
    struct vt_string message = {0};
    uint64_t file_bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        vt_error("%s: %s", path, strerror(errno));
        return VT_STATUS_USAGE;
    }
    if (vt_log_read_header(fd, path, &header, &file_bytes, &message)) {
        vt_error("%s", message.text);
        vt_string_free(&message);
        close(fd);
        return VT_STATUS_USAGE;
    }
    print_header(out, &header);
    uint8_t *bytes = vt_alloc(VT_CHUNK_BYTES, 1);
    for (uint64_t number = 1; number * VT_CHUNK_BYTES < file_bytes && !ferror(out); number++) {
        uint32_t have = vt_log_read_at(fd, bytes, VT_CHUNK_BYTES, number * VT_CHUNK_BYTES);
        if (!have)
            break;
        print_chunk(out, number, bytes, have);
    }
    free(bytes);
    close(fd);
    return VT_STATUS_OK;
}

int vt_cmd_dump(int argc, char **argv) {
    static const struct option long_options[] = {{"run", required_argument, NULL, 'r'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *run = NULL;
    struct vt_logs logs;
    struct vt_string message = {0};
    int option, status = VT_STATUS_OK;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return VT_STATUS_OK;
        }
        if (option == '?')
            return vt_usage("dump", "%s: unknown option, or its value is missing",
                            argv[optind - 1]);
        run = optarg;
    }
    if (vt_logs_find(argv + optind, argc - optind, run, &logs, &message)) {
        vt_error("%s", message.text);
        status = VT_STATUS_USAGE;
    }
    for (uint32_t i = 0; !status && i < logs.count; i++) {
        if (logs.count > 1)
            printf("%s%s:\n", i ? "\n" : "", logs.paths[i]);
        status = dump(logs.paths[i], stdout);
    }
    if (!status && fflush(stdout) && errno != EPIPE) {
        vt_error("standard output: %s", strerror(errno));
        status = VT_STATUS_INTERNAL;
    }
    vt_string_free(&message);
    vt_logs_free(&logs);
    return status;
}
