/* SPDX-License-Identifier: MIT */
/*
 * Mutates inputs of the fuzz target `log` so that most of them reach the replay: random changes of bytes would mostly
 * end at a magic number or a length. It works on whole records: it changes their fields, copies, moves, repeats and
 * removes them, and repairs the lengths around them. Everything else (one change in eight, and the texts) is left to
 * libFuzzer.
 */
#include "parts.h"

#include "logfile/logfile.h"

#include <stdlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed);

#define MOST_RECORDS 4096

/* An input that is changed, and its records. */
struct input {
    uint8_t *data;
    size_t size, most;
    uint64_t random;
    struct {
        size_t part, at; /* offsets of the part and of the record */
        uint32_t length;
    } records[MOST_RECORDS];
    uint32_t count;
};

static uint64_t next_random(struct input *in) {
    in->random += 0x9e3779b97f4a7c15u;
    return vt_mix(in->random);
}

static uint64_t below(struct input *in, uint64_t limit) {
    return limit ? next_random(in) % limit : 0;
}

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Where the records begin in a part; its length if there are none. */
static uint32_t first_record(const struct vt_fuzz_part *part) {
    uint32_t kind = part->where & VT_FUZZ_KIND, at = part->where & VT_FUZZ_OFFSET;
    if (kind == VT_FUZZ_NVML && at == 0)
        return sizeof(struct vt_nvml_header);
    if (kind == VT_FUZZ_LOG && at && at % VT_CHUNK_BYTES == 0)
        return sizeof(struct vt_chunk_header);
    return part->length;
}

static void find_records(struct input *in) {
    struct vt_fuzz_part part;
    size_t at = 0;
    in->count = 0;
    while (vt_fuzz_part_next(in->data, in->size, &at, &part)) {
        uint32_t offset = first_record(&part), length;
        for (; offset + 8 <= part.length; offset += length) {
            length = vt_record_length(word_at(part.bytes + offset));
            if (length < 8 || length % 8 || length > part.length - offset ||
                in->count == MOST_RECORDS)
                break;
            size_t bytes = (size_t)(part.bytes - in->data);
            in->records[in->count].part = bytes - VT_FUZZ_PART_BYTES;
            in->records[in->count].at = bytes + offset;
            in->records[in->count++].length = length;
        }
    }
}

/* Replaces `old` bytes at `at` of the part by others. False: there is no room. */
static bool splice(struct input *in, size_t part, size_t at, size_t old, const uint8_t *bytes,
                   size_t length) {
    uint32_t part_length;
    memcpy(&part_length, in->data + part + 4, 4);
    if (in->size - old + length > in->most || part_length - old + length > VT_CHUNK_BYTES)
        return false;
    memmove(in->data + at + length, in->data + at + old, in->size - at - old);
    memcpy(in->data + at, bytes, length);
    in->size += length - old;
    part_length += (uint32_t)(length - old);
    memcpy(in->data + part + 4, &part_length, 4);
    return true;
}

/* --- one record --- */

/* A possible value of a field: another record's, near its own, at a limit, or any. */
static uint64_t number(struct input *in, uint64_t old) {
    static const uint64_t limits[] = {0,          1,          2,          512,
                                      4096,       1 << 20,    2 << 20,    INT32_MAX,
                                      UINT32_MAX, 1ull << 40, 1ull << 47, VT_TICKS_MASK,
                                      INT64_MAX,  1ull << 63, UINT64_MAX, VT_SIZE_MASK};
    uint32_t other = (uint32_t)below(in, in->count);
    switch (below(in, 5)) {
    case 0:
        return limits[below(in, sizeof limits / sizeof *limits)];
    case 1:
        return old + below(in, 17) - 8;
    case 2:
        return next_random(in) >> below(in, 64);
    case 3:
        return old ^ 1ull << below(in, 64);
    default: /* the same place of another one */
        return word_at(in->data + in->records[other].at +
                       below(in, in->records[other].length / 8) * 8);
    }
}

static void change_field(struct input *in, uint32_t i) {
    uint8_t *record = in->data + in->records[i].at;
    uint32_t words = in->records[i].length / 8;
    if (words < 2)
        return;
    uint8_t *field = record + (1 + below(in, words - 1)) * 8;
    uint64_t old = word_at(field), fresh = number(in, old);
    if (below(in, 2)) { /* one half */
        unsigned shift = below(in, 2) ? 32 : 0;
        fresh = (old & ~(0xffffffffull << shift)) | (number(in, old >> shift) & 0xffffffff)
                                                        << shift;
    }
    memcpy(field, &fresh, sizeof fresh);
}

static bool is_short(uint64_t word) {
    return (word & 0xe0) == VT_REC_SHORT_FREE; /* or VT_REC_SHORT_ALLOC */
}

/* A field of a short record: its slot, or some bits from one of the places where a field begins. */
static void change_short(struct input *in, uint32_t i) {
    static const unsigned begin[] = {8, 30, 32, 64, 98};
    uint8_t *record = in->data + in->records[i].at;
    unsigned at = begin[below(in, in->records[i].length == 8 ? 2 : 5)];
    if (below(in, 4) == 0) {
        record[0] = (uint8_t)((record[0] & 0xf0) | below(in, VT_SHORT_SLOTS));
        return;
    }
    uint64_t word = word_at(record + at / 64 * 8),
             mask = (2ull << below(in, 64 - at % 64)) - 1; /* how many bits of it */
    uint64_t fresh = number(in, word >> at % 64) & mask;
    word = (word & ~(mask << at % 64)) | fresh << at % 64;
    memcpy(record + at / 64 * 8, &word, sizeof word);
}

static void change_first_word(struct input *in, uint32_t i) {
    static const unsigned hooks[] = {2, 3, 1000, 1001, 2000, 2001};
    uint8_t *record = in->data + in->records[i].at;
    uint64_t word = word_at(record);
    switch (below(in, 4)) {
    case 0: /* the kind of memory, or of event */
        record[1] = (uint8_t)below(in, 16);
        break;
    case 1: {
        uint16_t hook = (uint16_t)(below(in, 2) ? hooks[below(in, 6)] : below(in, 300));
        memcpy(record + 2, &hook, sizeof hook);
        break;
    }
    case 2: /* another event of the same length */
        for (unsigned type = (unsigned)below(in, 0x30), tries = 0; tries < 0x30; tries++)
            if (vt_record_bytes((type + tries) % 0x30) == in->records[i].length) {
                record[0] = (uint8_t)((type + tries) % 0x30);
                break;
            }
        break;
    default:
        if (vt_word_type(word) < 0x80) { /* the stack */
            uint32_t stack = (uint32_t)below(in, 40);
            memcpy(record + 4, &stack, sizeof stack);
        }
    }
}

static void change_when(struct input *in, uint32_t i) {
    static const unsigned devices[] = {0, 1, 2, 253, VT_DEVICE_UNKNOWN, VT_DEVICE_HOST};
    uint8_t *record = in->data + in->records[i].at;
    if (vt_word_type(word_at(record)) >= 0x80 || is_short(word_at(record)))
        return;
    uint64_t when = word_at(record + 8);
    when = below(in, 2) ? vt_when(devices[below(in, 6)], vt_when_ticks(when))
                        : vt_when(vt_when_device(when), number(in, vt_when_ticks(when)));
    memcpy(record + 8, &when, sizeof when);
}

/* Changes the text, or other parts, of an entry, and mostly their count. */
static void change_parts(struct input *in, uint32_t i) {
    uint8_t fresh[VT_RECORD_MAX_BYTES] = {0};
    size_t at = in->records[i].at;
    uint32_t length = in->records[i].length;
    const struct vt_record_layout *layout = vt_record_layout(in->data[at]);
    if (!layout || layout->kind || length < layout->bytes || length > sizeof fresh)
        return;
    memcpy(fresh, in->data + at, length);
    size_t parts = LLVMFuzzerMutate(fresh + layout->bytes, length - layout->bytes,
                                    below(in, 4) ? 64 + length - layout->bytes > 1024
                                                       ? length - layout->bytes
                                                       : 64 + length - layout->bytes
                                                 : length - layout->bytes);
    const struct vt_record_field *counts[2], *field = layout->fields;
    unsigned count = 0;
    for (; field->name; field++)
        if (field->each && count < 2)
            counts[count++] = field;
    size_t left = parts;
    for (unsigned k = 0; k < count && below(in, 8); k++) {
        uint32_t n = (uint32_t)(k + 1 < count ? below(in, left + 1) : left) / counts[k]->each;
        memcpy(fresh + counts[k]->offset, &n, counts[k]->bytes);
        left -= n * counts[k]->each;
    }
    uint32_t whole = (uint32_t)(layout->bytes + parts + 7) & ~7u;
    if (whole > sizeof fresh)
        return;
    memset(fresh + layout->bytes + parts, 0, whole - layout->bytes - parts);
    memcpy(fresh + 4, &whole, sizeof whole);
    splice(in, in->records[i].part, at, length, fresh, whole);
}

/* --- several records --- */

/* A new record, empty but for its type, its length, and its time. */
static void insert_new(struct input *in, uint32_t i) {
    uint8_t fresh[256] = {0};
    unsigned type = (unsigned)below(in, 256), tries = 0;
    while (!vt_record_bytes(type) && tries++ < 256)
        type = (type + 1) % 256;
    uint32_t length = vt_record_bytes(type), extra = type < 0x80 ? 0 : (uint32_t)below(in, 9) * 8;
    if (!length || length + extra > sizeof fresh)
        return;
    length += extra;
    fresh[0] = (uint8_t)type;
    if (type >= 0x80)
        memcpy(fresh + 4, &length, sizeof length);
    else if (!is_short(type))
        memcpy(fresh + 8, in->data + in->records[i].at + 8, in->records[i].length < 16 ? 0 : 8);
    splice(in, in->records[i].part, in->records[i].at, 0, fresh, length);
}

/* The end of the run of records that begins with record `i`: its index. */
static uint32_t end_of_run(struct input *in, uint32_t i, uint32_t most) {
    uint32_t end = i + 1 + (uint32_t)below(in, most);
    for (uint32_t j = i; j < end; j++)
        if (j >= in->count || in->records[j].part != in->records[i].part)
            return j;
    return end;
}

/* Copies a run of records to before another one; `remove`: moves it. */
static void copy_run(struct input *in, uint32_t i, bool remove) {
    static uint8_t run[VT_CHUNK_BYTES];
    uint32_t end = end_of_run(in, i, 8), to = (uint32_t)below(in, in->count);
    size_t at = in->records[i].at, part = in->records[i].part;
    size_t length = in->records[end - 1].at + in->records[end - 1].length - at;
    memcpy(run, in->data + at, length);
    bool later = in->records[to].at > at;
    if (!splice(in, in->records[to].part, in->records[to].at, 0, run, length) || !remove)
        return;
    splice(in, later || in->records[to].part >= part ? part : part + length,
           later ? at : at + length, length, run, 0);
}

/* Repeats a run, each time later and at other addresses, as a loop of the program would. */
static void repeat_run(struct input *in, uint32_t i) {
    static uint8_t run[VT_CHUNK_BYTES];
    uint32_t end = end_of_run(in, i, 8), times = 1 + (uint32_t)below(in, 40);
    size_t at = in->records[i].at, part = in->records[i].part;
    size_t length = in->records[end - 1].at + in->records[end - 1].length - at;
    uint64_t step = 1 + (next_random(in) >> (24 + below(in, 40)));
    uint64_t apart = below(in, 3) ? 4096ull << below(in, 20) : 0;
    memcpy(run, in->data + at, length);
    for (uint32_t n = 1; n <= times; n++) {
        for (size_t offset = 0; offset < length;) {
            uint64_t word = word_at(run + offset);
            uint32_t one = vt_record_length(word);
            if (is_short(word)) {
                unsigned high = one == 8 ? 0 : 8, shift = one == 8 ? 30 : 0;
                uint64_t address = word_at(run + offset + high) + (apart >> 4 << shift);
                memcpy(run + offset + high, &address, sizeof address);
            } else if (vt_word_type(word) < 0x80 && one >= 24) {
                uint64_t when = word_at(run + offset + 8), address = word_at(run + offset + 16);
                when = vt_when(vt_when_device(when), vt_when_ticks(when) + step);
                address += apart;
                memcpy(run + offset + 8, &when, sizeof when);
                memcpy(run + offset + 16, &address, sizeof address);
            }
            offset += one;
        }
        if (!splice(in, part, at + n * length, 0, run, length))
            break;
    }
}

static void change_records(struct input *in) {
    find_records(in);
    if (!in->count)
        return;
    uint32_t i = (uint32_t)below(in, in->count);
    switch (below(in, 10)) {
    case 0:
    case 1:
        if (is_short(word_at(in->data + in->records[i].at)))
            change_short(in, i);
        else
            change_field(in, i);
        break;
    case 2:
        change_first_word(in, i);
        break;
    case 3:
        change_when(in, i);
        break;
    case 4:
        change_parts(in, i);
        break;
    case 5:
        insert_new(in, i);
        break;
    case 6:
        copy_run(in, i, false);
        break;
    case 7:
        copy_run(in, i, true);
        break;
    case 8:
        repeat_run(in, i);
        break;
    default:
        splice(in, in->records[i].part, in->records[i].at, in->records[i].length, in->data, 0);
    }
}

/* --- not a record --- */

static void change_part(struct input *in) {
    static uint8_t fresh[VT_CHUNK_BYTES];
    struct vt_fuzz_part part;
    size_t at = 0;
    uint64_t skip = below(in, 6);
    while (vt_fuzz_part_next(in->data, in->size, &at, &part))
        if (!skip-- && part.length <= sizeof fresh) {
            memcpy(fresh, part.bytes, part.length);
            size_t most = part.length < 4096 ? part.length + 16 : part.length;
            size_t length = LLVMFuzzerMutate(fresh, part.length, most);
            splice(in, (size_t)(part.bytes - in->data) - VT_FUZZ_PART_BYTES,
                   (size_t)(part.bytes - in->data), part.length, fresh, length);
            return;
        }
}

/* Mends what the reader checks first, so that it reads on. */
static void mend(struct input *in) {
    struct vt_fuzz_part part;
    struct vt_log_header log = {0};
    size_t at = 0;
    while (vt_fuzz_part_next(in->data, in->size, &at, &part)) {
        uint32_t kind = part.where & VT_FUZZ_KIND, offset = part.where & VT_FUZZ_OFFSET;
        uint8_t *bytes = in->data + (part.bytes - in->data);
        if (kind == VT_FUZZ_LOG && !offset && part.length >= 32) {
            static const uint32_t rest[] = {VT_LOG_VERSION, VT_LOG_VERSION, sizeof log,
                                            VT_CHUNK_BYTES};
            memcpy(bytes, VT_LOG_MAGIC, 8);
            memcpy(bytes + 8, rest, sizeof rest);
            memcpy(&log, bytes, part.length < sizeof log ? part.length : sizeof log);
        } else if (kind == VT_FUZZ_LOG && offset % VT_CHUNK_BYTES == 0 && part.length >= 4) {
            static const uint32_t magic = VT_CHUNK_MAGIC;
            memcpy(bytes, &magic, sizeof magic);
        } else if (kind == VT_FUZZ_NVML && !offset &&
                   part.length >= sizeof(struct vt_nvml_header)) {
            struct vt_nvml_header header = vt_nvml_file_header(&log);
            memcpy(bytes, &header, sizeof header);
        }
    }
}

static struct input input; /* 96 KiB: too much for a stack */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    input.data = data;
    input.size = size;
    input.most = most;
    input.random = seed;
    if (below(&input, 16) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (uint64_t n = 1 + below(&input, 4); n; n--)
        if (below(&input, 8))
            change_records(&input);
        else
            change_part(&input);
    if (below(&input, 8))
        mend(&input);
    return input.size;
}

/* The first input with some of the other's records between its own. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most, unsigned seed) {
    static uint8_t run[VT_CHUNK_BYTES];
    input.random = seed;
    input.data = memcpy(out, other, other_size < most ? other_size : most);
    input.size = other_size < most ? other_size : most;
    input.most = most;
    find_records(&input);
    size_t length = 0;
    if (input.count) {
        uint32_t i = (uint32_t)below(&input, input.count), end = end_of_run(&input, i, 16);
        length = input.records[end - 1].at + input.records[end - 1].length - input.records[i].at;
        memcpy(run, input.data + input.records[i].at, length);
    }
    input.size = one_size < most ? one_size : most;
    memcpy(out, one, input.size);
    find_records(&input);
    if (input.count) {
        uint32_t to = (uint32_t)below(&input, input.count);
        splice(&input, input.records[to].part, input.records[to].at, 0, run, length);
    }
    return input.size;
}
