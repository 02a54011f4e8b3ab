/* An older library: it lacks what came later. */
int vramtrace_v1_active(void) {
    return 1;
}
