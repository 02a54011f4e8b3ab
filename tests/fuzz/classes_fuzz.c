/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: files of --classes. The input is the file; its rows are then asked about a stack.
 */
#include "files.h"

#include "symbols/classes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vt_classes *classes;
    struct vt_string message = {0};
    struct vt_process process = {.exe = "/opt/bin/own"};
    struct vt_frame frames[] = {
        {.function = "own::cache(int)", .file = "own.cc", .module = "/opt/lib/libown.so.1"},
        {.function = "cudaMalloc", .module = "/usr/lib/libcudart.so.12"},
        {.function = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", .module = "/opt/lib/libaaaaaaaaaaaaab"},
    };
    struct vt_stack stack = {.frames = frames, .count = 3};
    const char *name;
    vt_fuzz_file_write("classes", data, size);
    if (!vt_classes_open("classes", &classes, &message)) {
        vt_classes_of_stack(classes, &process, &stack, &name);
        vt_classes_close(classes);
    }
    vt_string_free(&message);
    return 0;
}
