/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: merged files. The input is the file, unpacked. What was read is written again, and must then
 * read as the same.
 */
#include "files.h"

#include "fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

static void expect(bool good) {
    if (!good)
        abort();
}

/* Writes a finished fleet as the file `name`, and frees it. Returns the bytes; free them. */
static char *write_fleet(struct vt_fleet *fleet, const char *name, size_t *length) {
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, length);
    vt_fleet_finish(fleet);
    expect(out && !vt_merged_write(fleet, out) && !fclose(out));
    vt_fleet_free(fleet);
    vt_fuzz_file_write(name, bytes, *length);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vt_string message = {0};
    struct vt_fleet *fleet = vt_fleet_open();
    vt_fuzz_file_write("merged", data, size);
    if (vt_merged_read("merged", fleet, &message)) {
        expect(message.length > 0);
        vt_fleet_finish(fleet);
        expect(!fleet->process_count && !fleet->cell_count && !fleet->device_count);
        vt_fleet_free(fleet);
    } else {
        size_t first_length, second_length;
        char *first = write_fleet(fleet, "first", &first_length);
        fleet = vt_fleet_open();
        expect(!vt_merged_read("first", fleet, &message));
        char *second = write_fleet(fleet, "second", &second_length);
        expect(first_length == second_length && !memcmp(first, second, first_length));
        free(first);
        free(second);
    }
    vt_string_free(&message);
    return 0;
}
