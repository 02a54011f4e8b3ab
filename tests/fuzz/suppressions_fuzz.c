/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: suppression files. The input is the file; its rules are then asked about a stack, in
 * which the input's own first line is one of the names.
 */
#include "files.h"

#include "model/suppress.h"

#include <string.h>

static void ask(const struct vt_suppressions *list, const uint8_t *data, size_t size) {
    char line[512] = "";
    size_t length = 0;
    while (length < size && length < sizeof line - 1 && data[length] != '\n' && data[length])
        length++;
    memcpy(line, data, length);
    char *file = line + (length > 5 ? 5 : 0); /* "leak:" */
    const struct vt_frame frames[] = {
        {.function = line, .file = file, .module = "/opt/lib/libown.so"},
        {.function = "cudaMalloc", .module = "/usr/lib/libcudart.so.12"},
        {.function = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
    };
    struct vt_stack stack = {.frames = (struct vt_frame *)frames, .count = 3};
    vt_suppress_find(list, &stack, VT_VERDICT_LOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vt_suppressions list = {0};
    struct vt_string message = {0};
    vt_fuzz_file_write("rules", data, size);
    vt_suppress_read(&list, "rules", &message);
    ask(&list, data, size);
    vt_string_free(&message);
    vt_suppress_free(&list);
    return 0;
}
