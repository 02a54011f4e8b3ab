/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: baselines. The input is the file. The parsed baseline is written again, and must then read as the same
 * leaks.
 */
#include "files.h"

#include "gate/baseline.h"

#include <stdlib.h>

static void expect(bool good) {
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vt_baseline first, again = {0};
    struct vt_string message = {0};
    vt_fuzz_file_write("baseline", data, size);
    if (!vt_baseline_read("baseline", &first, &message)) {
        expect(!vt_baseline_write(&first, "new", &message));
        for (uint32_t i = 0; i < first.count; i++) {
            const struct vt_baseline_entry *e = &first.entries[i];
            struct vt_stack_key key = {.call = vt_strdup(e->key.call), .hash = e->key.hash};
            expect(vt_baseline_find(&first, e->key.hash) == e);
            vt_baseline_raise(&again, &key, e->bytes, e->blocks);
        }
        expect(again.count == first.count);
        vt_baseline_free(&again);
        vt_baseline_free(&first);
    }
    vt_string_free(&message);
    return 0;
}
