/* SPDX-License-Identifier: MIT */
/*
 * Writes complete records: events, and entries that are written once (names, modules, notes). Called by all modules
 * that record. ALLOC, FREE and STACK are in log_short.c. Also counts missing records.
 *
 * Once per log, it writes the environment variables that influence GPU memory (allocator settings, visible devices, our
 * own limit), so that the report on a failed allocation does not suggest a setting that is already set. No other
 * variable is recorded.
 */
#include "log_file.h"

#include <string.h>

/* The first word is stored last, which publishes the record. */
static void fill_record(struct vt_thread *t, uint64_t *to, const void *record, uint32_t bytes,
                        uint64_t word, uint32_t whole) {
    memcpy(to + 1, (const uint64_t *)record + 1, bytes - sizeof *to);
    vt_log_commit(t, to, word, whole);
}

bool vt_log_event(struct vt_thread *t, const void *record, uint32_t bytes) {
    uint64_t *to = vt_log_reserve(t, bytes);
    if (to)
        fill_record(t, to, record, bytes, *(const uint64_t *)record, bytes);
    return to != NULL;
}

bool vt_log_entry(struct vt_thread *t, const void *record, uint32_t bytes, struct vt_log_part first,
                  struct vt_log_part second) {
    uint32_t whole = bytes + ((first.bytes + second.bytes + 7) & ~7u);
    uint64_t *to = vt_log_reserve_entry(t, whole);
    if (!to)
        return false;
    char *parts = (char *)to + bytes;
    if (first.bytes)
        memcpy(parts, first.data, first.bytes);
    if (second.bytes)
        memcpy(parts + first.bytes, second.data, second.bytes);
    fill_record(t, to, record, bytes, *(const uint64_t *)record | (uint64_t)whole << 32, whole);
    return true;
}

void vt_log_note(const char *text) {
    const struct vt_rec_note r = {.word = VT_REC_NOTE, .text_bytes = (uint32_t)strnlen(text, 1024)};
    if (vt_log_is_open() && vt_tls.thread)
        vt_log_entry(vt_tls.thread, &r, sizeof r, (struct vt_log_part){text, r.text_bytes},
                     VT_LOG_NOTHING);
}

static const char *const variables[] = {
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_CLIENT_MEM_FRACTION",
    "TF_GPU_ALLOCATOR",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "CUPY_GPU_MEMORY_LIMIT",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "NCCL_CUMEM_ENABLE",
    "VRAMTRACE_ALARM",
    "VRAMTRACE_LIMIT",
    "VRAMTRACE_INJECT",
    "VRAMTRACE_FRAMEWORK",
    "VRAMTRACE_SIM_OTHER",
};

static void write_variable(struct vt_thread *t, const char *name, const char *value) {
    const struct vt_rec_env r = {.word = VT_REC_ENV,
                                 .name_bytes = (uint32_t)strlen(name),
                                 .value_bytes = (uint32_t)strnlen(value, VT_ENV_MAX_BYTES)};
    vt_log_entry(t, &r, sizeof r, (struct vt_log_part){name, r.name_bytes},
                 (struct vt_log_part){value, r.value_bytes});
}

void vt_log_environment_write(struct vt_thread *t) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = vt_settings_env(variables[i]);
        if (value)
            write_variable(t, variables[i], value);
    }
}

static void note_first(uint64_t *first, uint64_t at) {
    uint64_t was;
    while ((was = vt_get(first)) == 0 || at < was)
        if (vt_claim(first, was, at))
            break;
}

VT_COLD void vt_log_drop(enum vt_drop reason) {
    if (vt_drop_is_event(reason)) {
        /* Must not be older than the thread's announced time. */
        uint64_t at = (vt_tls.busy && vt_tls.entered ? vt_tls.entered : vt_log_ticks()) | 1;
        note_first(&vt_log_counters->first_drop, at);
        if (reason == VT_DROP_BOUND)
            note_first(&vt_log_counters->bound_at, at);
    }
    vt_add(&vt_log_counters->dropped[reason], 1);
}

VT_COLD void vt_log_record_lost(struct vt_thread *t) {
    uint32_t used = vt_see(&t->used);
    while (t->flushed < used) {
        uint64_t word = *(const uint64_t *)((const char *)t->chunk + t->flushed);
        uint32_t bytes = vt_record_length(word);
        if (vt_word_type(word) < 0x80)
            vt_log_drop(VT_DROP_LOG_FULL);
        else if (vt_word_type(word) == VT_REC_STACK || vt_word_type(word) == VT_REC_SHORT_STACK)
            vt_log_drop(VT_DROP_STACKS);
        t->flushed += bytes > 8 ? bytes : 8;
    }
}
