/* SPDX-License-Identifier: MIT */
/* cudaMallocAsync in a service: each request's answer is freed late; or some never. */
#include "scene.h"

int cudaMallocAsync(void **pointer, size_t size, void *stream);
int cudaFreeAsync(void *pointer, void *stream);

/* Not in a register, which another machine's compiler uses for something else at the end. */
static void **answers;

int main(int argc, char **argv) {
    leaking = argc > 1 && !strcmp(argv[1], "leak");
    answers = calloc(400, sizeof *answers);
    for (int i = 0; i < 400; i++) {
        CHECK(cudaMallocAsync(&answers[i], 32 * KIB, NULL)); /* LEAK */
        if (i >= 6 && (!leaking || i % 2))
            CHECK(cudaFreeAsync(answers[i - 6], NULL));
    }
    for (int i = 394; i < 400; i++)
        CHECK(cudaFreeAsync(answers[i], NULL));
    return 0;
}
