/* SPDX-License-Identifier: MIT */
/*
 * Finds the logs that the live view follows (see sources.h).
 */
#include "sources.h"

#include "logfile/logfile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The generations of processes that are followed: workers may start workers. The limit also ends a cycle of process
 * numbers. */
enum { GENERATIONS = 8 };

struct vt_source vt_sources_open(const char *text) {
    struct vt_source source = {.text = text, .kind = VT_SOURCE_LOG};
    VT_SCOPED_STRING message = {0};
    bool folder;
    int error = vt_logs_are_in(text, &folder, &message);
    if (!error || error == -EINVAL) { /* reading it reports the error */
        source.kind = folder ? VT_SOURCE_FOLDER : VT_SOURCE_LOG;
    } else if (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10 &&
               strtoul(text, NULL, 10)) {
        source.kind = VT_SOURCE_PID;
        source.pid = (unsigned)strtoul(text, NULL, 10);
    }
    return source;
}

void vt_sources_close(struct vt_source *source) {
    free(source->message);
    source->message = NULL;
}

static void look_at_process(struct vt_source *s, unsigned pid, unsigned generation,
                            bool (*add)(void *, const char *, unsigned, const char *), void *to) {
    char path[64];
    unsigned child;
    VT_SCOPED_STRING message = {0};
    VT_SCOPED char *log = vt_request_log(pid, &message);
    if (log && add(to, log, pid, s->text))
        s->found++;
    if (generation == GENERATIONS)
        return;
    snprintf(path, sizeof path, "/proc/%u/task/%u/children", pid, pid);
    FILE *children = fopen(path, "re");
    while (children && fscanf(children, "%u", &child) == 1)
        look_at_process(s, child, generation + 1, add, to);
    if (children)
        fclose(children);
}

static void set_message(struct vt_source *s, char *message) {
    free(s->message);
    s->message = message;
}

void vt_sources_look(struct vt_source *s, bool (*add)(void *, const char *, unsigned, const char *),
                     void *to) {
    VT_SCOPED_STRING message = {0};
    struct vt_logs logs;
    char *word = (char *)s->text;
    switch (s->kind) {
    case VT_SOURCE_LOG:
        s->found += add(to, s->text, 0, s->text);
        return;
    case VT_SOURCE_PID:
        look_at_process(s, s->pid, 0, add, to);
        s->gone = kill((pid_t)s->pid, 0) && errno == ESRCH;
        if (!s->found)
            set_message(
                s, s->gone ? vt_formatted("process %u: no such process", s->pid)
                           : vt_formatted("process %u has no log yet: it has not used the GPU, or "
                                          "it is not traced",
                                          s->pid));
        break;
    case VT_SOURCE_FOLDER:
        if (vt_logs_find(&word, 1, NULL, &logs, &message))
            set_message(s, vt_formatted("%s: no log yet", s->text));
        for (uint32_t i = logs.count; i-- > 0;) /* the first process belongs on top */
            s->found += add(to, logs.paths[i], 0, s->text);
        vt_logs_free(&logs);
    }
    if (s->found)
        set_message(s, NULL);
}
