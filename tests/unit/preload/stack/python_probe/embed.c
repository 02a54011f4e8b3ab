/* SPDX-License-Identifier: MIT */
/*
 * embed PROBE LIBPYTHON local|global: a program that opens libpython itself, after the probe, and
 * starts and ends the interpreter three times. The probe must see nothing before, between and
 * after, and the right function, file and line while it runs. Exit status 0: it did.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*probe)(char *, size_t);
static void *(*unicode)(const char *);
static char text[65536];
static int wrong;

struct method {
    const char *name;
    void *(*function)(void *, void *);
    int flags;
    const char *doc;
};

/* look(): what the probe sees, as a string. */
static void *look(void *self, void *args) {
    (void)self, (void)args;
    probe(text, sizeof text);
    return unicode(text);
}
static struct method method = {"look", look, 4 /* METH_NOARGS */, NULL};

static void *symbol(void *library, const char *name) {
    void *p = dlsym(library, name);
    if (p == NULL) {
        fprintf(stderr, "embed: %s\n", dlerror());
        exit(2);
    }
    return p;
}
#define GET(pointer, library, name)                                                                \
    do {                                                                                           \
        void *p_ = symbol(library, name);                                                          \
        memcpy(&(pointer), &p_, sizeof(pointer));                                                  \
    } while (0)

static void nothing(const char *when) {
    int n = probe(text, sizeof text);
    if (n != 0) {
        printf("%d frames %s\n", n, when);
        wrong++;
    }
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "embed: %s\n", dlerror());
        return 2;
    }
    GET(probe, library, "probe");
    void (*resolve)(void);
    int (*state)(void);
    GET(resolve, library, "probe_resolve");
    GET(state, library, "probe_state");
    nothing("with no interpreter in the process");
    void *python =
        dlopen(argv[2], RTLD_NOW | (strcmp(argv[3], "local") == 0 ? RTLD_LOCAL : RTLD_GLOBAL));
    if (python == NULL) {
        fprintf(stderr, "embed: %s\n", dlerror());
        return 2;
    }
    resolve();
    if (state() != 2) {
        printf("libpython opened, state is %d\n", state());
        return 1;
    }
    void (*initialize)(int), (*finalize)(void);
    int (*run)(const char *), (*set)(void *, const char *, void *);
    void *(*module)(const char *), *(*make)(struct method *, void *, void *);
    GET(initialize, python, "Py_InitializeEx");
    GET(finalize, python, "Py_Finalize");
    GET(run, python, "PyRun_SimpleString");
    GET(set, python, "PyObject_SetAttrString");
    GET(module, python, "PyImport_AddModule");
    GET(make, python, "PyCFunction_NewEx");
    GET(unicode, python, "PyUnicode_FromString");
    for (int round = 0; round < 3; round++) {
        nothing("before the interpreter started");
        initialize(0);
        nothing("with the interpreter up and no Python running");
        set(module("__main__"), "look", make(&method, NULL, NULL));
        int failed = run(
            "def inner():\n"
            "    return look()\n"
            "def outer():\n"
            "\n"
            "    return inner()\n"
            "seen = outer()\n"
            "want = 'inner\\t<string>\\t2\\nouter\\t<string>\\t5\\n<module>\\t<string>\\t6\\n'\n"
            "assert seen == want, seen\n");
        wrong += failed != 0;
        nothing("after Python ran");
        finalize();
        nothing("after the interpreter ended");
    }
    dlclose(python);
    nothing("after libpython was closed");
    printf("embedded (%s): %d wrong\n", argv[3], wrong);
    return wrong != 0;
}
