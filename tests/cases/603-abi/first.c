/* The interface as it was first released: what stands here stays as it is. A function that vramtrace.h declares in another
 * way does not compile beside it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

extern void vramtrace_v1_mark(const char *name) __attribute__((weak));
extern void vramtrace_v1_push(const char *name) __attribute__((weak));
extern void vramtrace_v1_pop(void) __attribute__((weak));
extern int vramtrace_v1_snapshot(const char *name) __attribute__((weak));
extern int64_t vramtrace_v1_live_bytes(int device) __attribute__((weak));
extern int vramtrace_v1_active(void) __attribute__((weak));
extern int vramtrace_v1_simulated(void) __attribute__((weak));

#include <vramtrace.h>

static void (*const mark)(const char *name) = vramtrace_mark;
static void (*const push)(const char *name) = vramtrace_push;
static void (*const pop)(void) = vramtrace_pop;
static int (*const snapshot)(const char *name) = vramtrace_snapshot;
static int64_t (*const live_bytes)(int device) = vramtrace_live_bytes;
static int (*const active)(void) = vramtrace_active;
static int (*const simulated)(void) = vramtrace_simulated;

extern int cuInit(unsigned);
extern int cuCtxCreate_v2(void **, unsigned, int);
extern int cuMemAlloc_v2(unsigned long long *, size_t);

int main(void) {
    void *context;
    static unsigned long long kept;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuMemAlloc_v2(&kept, 1 << 20))
        return 99;
    push("phase");
    mark("moment");
    pop();
    printf("%d %" PRId64 " %d %d\n", active(), live_bytes(-1), simulated(), snapshot("now"));
    if (vramtrace_v1_active) { /* as programs call it that were compiled with the first header */
        vramtrace_v1_push("phase");
        vramtrace_v1_mark("moment");
        vramtrace_v1_pop();
        printf("%d %" PRId64 " %d %d\n", vramtrace_v1_active(), vramtrace_v1_live_bytes(0),
               vramtrace_v1_simulated(), vramtrace_v1_snapshot(NULL));
    }
    return 0;
}
