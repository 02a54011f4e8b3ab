/* SPDX-License-Identifier: MIT */
/*
 * make_log WHAT N FILE: writes a log with N of WHAT, for the run beside it.
 */
#include "../../unit/analyzer/log_maker.c"

enum { START = 0x400000 };

static struct vt_maker maker;
static uint32_t n;
static const uint64_t device = 0x7f0000000000;

/* A bijection of 0 … n - 1 that looks random. */
static uint32_t shuffled(uint32_t i) {
    return (uint32_t)((uint64_t)i * 2654435761u % n);
}

/* A stack of three frames, of a function called from one, called from main. */
static void stack(uint32_t number, uint64_t innermost) {
    uint64_t frames[] = {innermost, START + 0x800000 + number % 100 * 16, START + 0x900000};
    maker_stack(&maker, 0, number, frames, 3);
}

static void module(void) {
    maker_module(&maker, 0, 0, START, START + 0x40000000, 0, "", 0, "/nowhere/program");
}

static void alloc(uint32_t stack_number, uint64_t address, uint64_t size) {
    maker_alloc(&maker, 0, 0, VT_KIND_DEVICE, 2, 0, stack_number, address, size, 1);
}

static uint64_t place(uint32_t i) {
    return device + ((uint64_t)i << 21);
}

/* Call sites that free nothing, each of its own size. */
static void sites(void) {
    module();
    for (uint32_t i = 1; i <= n; i++) {
        stack(i, START + shuffled(i) * 64ull);
        alloc(i, place(i), 512 + 8 * (shuffled(i) % 100));
    }
}

/* The same in Python: a file each. */
static void python(void) {
    for (uint32_t i = 1; i <= n; i++) {
        char file[64];
        snprintf(file, sizeof file, "/nowhere/%u.py", i);
        maker_code(&maker, 0, i, 1, "train", file);
        uint64_t frames[] = {VT_FRAME_PYTHON | (uint64_t)i << 32 | 7};
        maker_stack(&maker, 0, i, frames, 1);
        alloc(i, place(i), 512);
    }
}

/* Call sites that all grow. */
static void growing(void) {
    enum { ROUNDS = 12 };
    module();
    for (uint32_t i = 1; i <= n; i++)
        stack(i, START + shuffled(i) * 64ull);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 1; i <= n; i++)
            alloc(i, place(round * n + i), 512 + 8 * (shuffled(i) % 100));
}

/* Modules, each with an allocation. */
static void modules(void) {
    for (uint32_t i = 1; i <= n; i++) {
        char path[64];
        uint64_t start = START + 0x10000ull * shuffled(i);
        snprintf(path, sizeof path, "/nowhere/lib%u.so", i);
        maker_module(&maker, 0, maker.ticks, start, start + 0x8000, start, "", 0, path);
        maker_stack(&maker, 0, i, (uint64_t[]){start + 0x100}, 1);
        alloc(i, place(i), 512);
    }
}

/* Modules that come to one place, one after the other. */
static void reloaded(void) {
    for (uint32_t i = 1; i <= n; i++) {
        char path[64];
        snprintf(path, sizeof path, "/nowhere/lib%u.so", i);
        maker_module(&maker, 0, maker.ticks + 1, START, START + 0x8000, START, "", 0, path);
        maker.ticks += 2;
        maker_stack(&maker, 0, i, (uint64_t[]){START + 0x100}, 1);
        alloc(i, place(i), 512);
    }
}

/* Blocks of a caching allocator, in random order in one segment; half of them freed. */
static void blocks(void) {
    module();
    stack(1, START);
    stack(2, START + 64);
    alloc(1, device, (uint64_t)n << 9);
    for (uint32_t i = 0; i < n; i++)
        maker_alloc(&maker, 0, 0, VT_KIND_BLOCK, 1500, 0, 2, device + ((uint64_t)shuffled(i) << 9),
                    512, 0);
    for (uint32_t i = 0; i < n; i += 2)
        maker_free_at(&maker, 0, 0, VT_KIND_BLOCK, device + ((uint64_t)shuffled(i) << 9));
}

/* Segments of a caching allocator, a block in each. */
static void segments(void) {
    module();
    stack(1, START);
    stack(2, START + 64);
    for (uint32_t i = 0; i < n; i++) {
        alloc(1, place(shuffled(i)), 1 << 21);
        maker_alloc(&maker, 0, 0, VT_KIND_BLOCK, 1500, 0, 2, place(shuffled(i)) + 4096, 512, 0);
    }
}

/* Pieces mapped side by side (an expandable segment), with blocks across. */
static void mappings(void) {
    module();
    stack(1, START);
    stack(2, START + 64);
    for (uint32_t i = 0; i < n; i++) {
        maker_alloc(&maker, 0, 0, VT_KIND_PHYSICAL, 1, 0, 1, i + 1, 1 << 21, 0);
        struct vt_rec_map map = {vt_word(VT_REC_MAP, VT_KIND_PHYSICAL, 1, 0),
                                 vt_when(0, ++maker.ticks), place(i), 1 << 21, i + 1};
        maker_put(&maker, 0, &map, sizeof map);
        maker_alloc(&maker, 0, 0, VT_KIND_BLOCK, 1500, 0, 2, place(i) + 4096, 512, 0);
    }
}

/* Phases, one after the other and one in the other, each of its own name and with an allocation. */
static void phases(void) {
    module();
    stack(1, START);
    for (uint32_t i = 1; i <= n; i++) {
        char record[96] = {0}, text[32];
        snprintf(text, sizeof text, "phase %u", i);
        struct vt_rec_name name = {0};
        (void)record;
        name.number = i;
        name.text_bytes = (uint32_t)strlen(text);
        put_parts(&maker, 0, &name, sizeof name, VT_REC_NAME, text, name.text_bytes, NULL, 0);
        struct vt_rec_phase begin = {vt_word(VT_REC_PHASE, VT_PHASE_PUSH, 0, 0),
                                     vt_when(VT_DEVICE_UNKNOWN, ++maker.ticks),
                                     0,
                                     i,
                                     i,
                                     0};
        begin.began = maker.ticks;
        maker_put(&maker, 0, &begin, sizeof begin);
        alloc(1, place(i), 512);
        if (i % 16)
            continue;
        for (uint32_t j = i; j > i - 16; j--) {
            struct vt_rec_phase end = begin;
            end.word = vt_word(VT_REC_PHASE, VT_PHASE_POP, 0, 0);
            end.when = vt_when(VT_DEVICE_UNKNOWN, ++maker.ticks);
            end.range = j;
            maker_put(&maker, 0, &end, sizeof end);
        }
    }
}

/* Phases that do not end, as ranges that a program starts and forgets; every other one does, the first
 * first. Then they end together with the log. */
static void open_phases(void) {
    module();
    stack(1, START);
    maker_name(&maker, 0, 1, "range");
    for (uint32_t i = 1; i <= n + n / 2; i++) {
        bool begins = i <= n;
        uint32_t range = begins ? i : 2 * (i - n);
        struct vt_rec_phase phase = {
            .word = vt_word(VT_REC_PHASE, begins ? VT_PHASE_START : VT_PHASE_END, 0, 0),
            .when = vt_when(VT_DEVICE_UNKNOWN, ++maker.ticks),
            .range = range,
            .name = 1,
            .began = maker.ticks};
        maker_put(&maker, 0, &phase, sizeof phase);
        alloc(1, place(shuffled(i % n) + (begins ? 0 : n)), 512);
    }
}

/* Steps each of which leads on from the one before, with an allocation at each. */
static void steps(void) {
    uint32_t step = 0;
    module();
    stack(1, START);
    for (uint32_t i = 0; i < n; i++)
        alloc(1, place(i), 512);
    for (uint32_t i = 0; i < n; i++) {
        struct maker_step s = {
            step, i ? VT_STEP_ATTRIBUTE : VT_STEP_MODULE, i ? "a" : "__main__", NULL, 0, 0, 0};
        step = maker_step(&maker, 0, s);
        maker_owned(&maker, 0, 1, place(i), VT_SPACE_DEVICE, step, 0);
    }
    maker_snapshot(&maker, 0, 1, VT_SNAPSHOT_END, ++maker.ticks, 0);
}

/* Samples of queries that all began with the program, as a clock that stood still says. */
static void samples(void) {
    module();
    stack(1, START);
    for (uint32_t i = 1; i <= n; i++) {
        struct vt_rec_sample sample = {.word = vt_word(VT_REC_SAMPLE, 0, 0, 0),
                                       .when = vt_when(0, maker.ticks += 2),
                                       .used_bytes = i << 9,
                                       .own_bytes = VT_SAMPLE_UNKNOWN,
                                       .others_bytes = VT_SAMPLE_UNKNOWN};
        maker_put(&maker, 0, &sample, sizeof sample);
        alloc(1, place(i), 512);
    }
}

/* Sentences of the tracer's. */
static void notes(void) {
    sites();
    for (uint32_t i = 1; i <= n; i++) {
        char text[32];
        snprintf(text, sizeof text, "note %u", i);
        struct vt_rec_note note = {.text_bytes = (uint32_t)strlen(text)};
        put_parts(&maker, 0, &note, sizeof note, VT_REC_NOTE, text, note.text_bytes, NULL, 0);
    }
}

/* Contexts with an allocation each, that end with it. */
static void contexts(void) {
    module();
    stack(1, START);
    for (uint32_t i = 1; i <= n; i++) {
        maker_alloc(&maker, 0, 0, VT_KIND_DEVICE, 2, 0, 1, place(i), 512, i % 65000 + 1);
        if (i > n / 2)
            maker_bulk(&maker, 0, 0, (i - n / 2) % 65000 + 1, false);
    }
}

/* Failed allocations, of two sites in turn, while much is live. */
static void ooms(void) {
    sites();
    for (uint32_t i = 1; i <= n; i++)
        maker_fail(&maker, 0, 0, 0, i, 1ull << 30, 2);
}

/* Threads that write a record each. */
static void frees(void) {
    module();
    stack(1, START);
    for (uint32_t i = 1; i <= n; i++)
        alloc(1, place(shuffled(i)), 512);
    for (uint32_t i = 1; i <= n; i++)
        maker_free_at(&maker, 0, 0, 0, place(i));
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*make)(void);
    } what[] = {
        {"sites", sites},       {"python", python},     {"growing", growing},
        {"modules", modules},   {"reloaded", reloaded}, {"blocks", blocks},
        {"segments", segments}, {"mappings", mappings}, {"phases", phases},
        {"contexts", contexts}, {"ooms", ooms},         {"frees", frees},
        {"notes", notes},       {"open", open_phases},  {"steps", steps},
        {"samples", samples},
    };
    if (argc != 4)
        return 2;
    n = (uint32_t)atoi(argv[2]);
    maker_start(&maker);
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        if (!strcmp(argv[1], what[i].name)) {
            maker_device(&maker, 0, 0, 141ull << 30, "GPU");
            what[i].make();
            return maker_save(&maker, argv[3]) ? 1 : 0;
        }
    return 2;
}
