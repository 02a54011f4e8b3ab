/* SPDX-License-Identifier: MIT */
/* OWNER tasks in global: 10 x 16 KiB */
/* A list whose links lie inside its members, behind other fields. */
#include "scene.h"

#include <stddef.h>

struct link {
    struct link *next, *previous;
};
struct task {
    CUdeviceptr buffer;
    int number;
    struct link link;
};

static struct link tasks = {&tasks, &tasks};

static void add(struct task *task) {
    task->link.next = &tasks;
    task->link.previous = tasks.previous;
    tasks.previous->next = &task->link;
    tasks.previous = &task->link;
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 10; i++) {
        struct task *task = calloc(1, sizeof *task);
        task->number = i;
        task->buffer = ALLOC(16 * KIB);
        add(task);
    }
    return 0;
}
