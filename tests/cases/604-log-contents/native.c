/* A variable with a secret before and behind the pointer that keeps memory; the same in the heap, in the memory itself and in
 * pinned memory. Built by two exclusive ors, so that the program's file has no secret either. */
#include <stdlib.h>
#include <string.h>

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(unsigned long long *, size_t);
extern int cuMemAllocHost_v2(void **, size_t);
extern int cuMemcpyHtoD_v2(unsigned long long, const void *, size_t);

struct kept {
    char before[48];
    unsigned long long memory, number;
    char behind[48];
};
struct kept variable, *in_heap;
void *pinned;

static void fill(char *to, const char *hidden) {
    for (size_t i = 0; i <= strlen(hidden); i++)
        to[i] = (char)(hidden[i] ? hidden[i] ^ 1 : 0);
}

int main(int argc, char **argv) {
    void *context;
    if (argc < 2 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0) ||
        cuMemAlloc_v2(&variable.memory, 1 << 20))
        return 99;
    in_heap = calloc(1, sizeof *in_heap);
    if (!in_heap || cuMemAlloc_v2(&in_heap->memory, 1 << 20) || cuMemAllocHost_v2(&pinned, 4096))
        return 99;
    char *places[] = {variable.before, variable.behind, in_heap->before, in_heap->behind, pinned};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        fill(places[i], argv[1]);
    variable.number = in_heap->number = 0x1122334455667788;
    return cuMemcpyHtoD_v2(variable.memory, variable.before, sizeof variable.before) != 0;
}
