/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: merged files. The input is the file, unpacked. The parsed file is written again, and must then read as
 * the same.
 */
#include "files.h"

#include "job/job.h"

#include <stdlib.h>
#include <string.h>

static void expect(bool good) {
    if (!good)
        abort();
}

/* Writes a finished job as the file `name`, and frees it. Returns the bytes; free them. */
static char *write_job(struct vt_job *job, const char *name, size_t *length) {
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, length);
    vt_job_finish(job);
    expect(out && !vt_merged_write(job, out) && !fclose(out));
    vt_job_free(job);
    vt_fuzz_file_write(name, bytes, *length);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct vt_string message = {0};
    struct vt_job *job = vt_job_open();
    vt_fuzz_file_write("merged", data, size);
    if (vt_merged_read("merged", job, &message)) {
        expect(message.length > 0);
        vt_job_finish(job);
        expect(!job->process_count && !job->cell_count && !job->device_count);
        vt_job_free(job);
    } else {
        size_t first_length, second_length;
        char *first = write_job(job, "first", &first_length);
        job = vt_job_open();
        expect(!vt_merged_read("first", job, &message));
        char *second = write_job(job, "second", &second_length);
        expect(first_length == second_length && !memcmp(first, second, first_length));
        free(first);
        free(second);
    }
    vt_string_free(&message);
    return 0;
}
