/* SPDX-License-Identifier: MIT */
/* beside LIBRARY HOST HANDLES EACH: makes HANDLES handles of a CUDA library, one in each step, as long as there are some; in each
 * step the program keeps EACH KiB of its own. With "lost" as a fifth argument nothing remembers the handles. */
#include "../../cuda_case.h"

#include <dlfcn.h>

#define STEPS 120

void *handles[STEPS]; /* not static: else nobody reads them, and they are not kept */
CUdeviceptr *kept;    /* no array: that would have a bound */
CUdeviceptr scratch;

int main(int argc, char **argv) {
    EXPECT(argc > 4);
    void *library = dlopen(argv[1], RTLD_NOW);
    EXPECT(library);
    void *(*create)(unsigned long long, int) =
        (void *(*)(unsigned long long, int))dlsym(library, "library_create"); /* NOLINT */
    EXPECT(create);
    start_cuda();
    for (int i = 0; i < STEPS; i++) {
        void *handle = i < atoi(argv[3]) ? create(1 << 20, atoi(argv[2])) : NULL;
        if (argc == 5)
            handles[i] = handle;
        if (atoi(argv[4])) {
            EXPECT(kept = realloc(kept, (size_t)(i + 1) * sizeof *kept)); /* NOLINT */
            CHECK(cuMemAlloc_v2(&kept[i], (size_t)atoi(argv[4]) << 10));  /* kept */
        }
        CHECK(cuMemAlloc_v2(&scratch, 4096));
        CHECK(cuMemFree_v2(scratch));
    }
    return 0;
}
