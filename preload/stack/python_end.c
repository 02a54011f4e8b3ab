/* SPDX-License-Identifier: MIT */
/*
 * Detects the end of a Python program while its objects still exist. An exit handler of the C library runs too late: by
 * then the interpreter has dropped the objects.
 *
 * Python's own module `atexit` calls its functions at the right moment: after the program's last statement and its
 * threads, before anything is dropped. But registering there takes the GIL, and a thread in one of our wrappers must
 * not wait for it. So we add a pending call, which takes no GIL. The interpreter makes the call on its main thread
 * between two bytecodes, at the latest before it runs the functions of `atexit`, and the call registers our function.
 * It calls only C functions of `atexit`, so none of the program's code runs.
 *
 * `atexit` calls the last function first. Ours must be called before the program's functions, to see which memory they
 * will free, so we register it again whenever others were added. The number of functions, which shows this, also shows
 * when the program has cleared the list. To remove our old entry, Python would compare it with the program's objects,
 * which may run their code; so it stays, and its call does nothing new.
 *
 * The functions of `atexit` may also be called, or dropped, without an end: `atexit._run_exitfuncs()`, `_clear()`. In
 * the first case, Python code is running and the interpreter's end is not on the stack, so our function does nothing.
 * It holds a capsule, whose destructor reports that the list has dropped the function; then we register it again. A
 * subinterpreter may end at any time, so we watch only the main interpreter's end. A program that embeds Python
 * continues after Py_FinalizeEx; Py_AtExit reports that.
 *
 * Called by snapshot/triggers.c.
 */
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "python.h"
#include "python_layout.h"

/* How many of our pending calls may wait at the same time; CPython has 32 places. */
#define CALLS_MOST      4u
#define LOOKS_PER_CALL  16u /* if a call has waited for this many checks, add another one */
#define REGISTERED_MOST 64u
#define FINISHING_38    600u /* offset of _PyRuntime.ceval.pending.finishing in CPython 3.8 */

static void (*at_end)(void);       /* atomic */
static void (*at_call)(void);      /* atomic */
static void (*at_all_ended)(void); /* atomic */
static bool (*in_end)(void);       /* atomic */
static uint32_t waiting;           /* atomic: pending calls added and not made yet */
static uint32_t looks;             /* atomic: checks since the last call was added */
/* With the GIL held: the number of functions in `atexit` after our last registration; -1: unknown. */
static long registered = -1;
static unsigned registrations; /* since the interpreter's start */
static bool ending;            /* atomic: our function was called, and not registered again since */
static uint32_t ended;         /* atomic: Python has ended, and was not started again since */

static void add_pending(uint32_t now);

/* PyMethodDef. */
struct method {
    const char *name;
    void *(*function)(void *self, void *arguments);
    int flags;
    const char *doc;
};
#define METH_NOARGS 4

/* Other threads have now waited for the GIL longer than usual. In CPython 3.10, a thread whose request for the GIL
 * timed out, and that requests it again just after the interpreter's end, crashes (it withdraws its request from freed
 * memory). So we let each thread run first, as it would have without us. */
static void let_others_run(const struct vt_pycalls *py) {
    py->PyEval_RestoreThread(py->PyEval_SaveThread());
}

static void *ends(void *self, void *arguments) {
    (void)self, (void)arguments;
    const struct vt_pycalls *py = &vt_pyimage.calls;
    /* Python code is running: it called the functions of `atexit`, or it called sys.exit() below a call from C, such as
     * PyRun_SimpleString. */
    if (py->PyEval_GetGlobals() && !vt_get(&in_end)())
        return py->PyLong_FromLong(0);
    void (*call)(void) = vt_get(&at_end), (*soon)(void) = vt_get(&at_call);
    registered = -1;
    registrations = 0;
    vt_put(&ending, true);
    int saved_errno = errno;
    if (call) {
        soon();
        call();
        let_others_run(py);
    }
    errno = saved_errno;
    return vt_pyimage.calls.PyLong_FromLong(0);
}

static struct method method = {"vramtrace_end", ends, METH_NOARGS, NULL};

bool vt_python_is_like(const void *object, const void *other) {
    size_t type = vt_pyimage.at.ob_type;
    return object && other &&
           memcmp((const char *)object + type, (const char *)other + type, sizeof(void *)) == 0;
}

/* Finds a function of the module `atexit`, which nearly every program has loaded; PyImport_ImportModule would call the
 * program's own __import__. If the program has replaced the module or the function, we must not call it. */
static void *function_of(const struct vt_pycalls *py, const char *name) {
    void *modules = py->PyImport_GetModuleDict();
    void *module = modules ? py->PyDict_GetItemString(modules, "atexit") : NULL;
    if (module && !vt_python_is_like(module, py->PyDict_GetItemString(modules, "sys")))
        return NULL;
    if (module)
        py->Py_IncRef(module);
    else
        module = py->PyImport_ImportModuleLevel("atexit", NULL, NULL, NULL, 0);
    void *found = module ? py->PyObject_GetAttrString(module, name) : NULL;
    if (module)
        py->Py_DecRef(module);
    void *builtin = found ? py->PyCFunction_NewEx(&method, NULL, NULL) : NULL;
    if (found && !vt_python_is_like(found, builtin)) {
        py->Py_DecRef(found);
        found = NULL;
    }
    if (builtin)
        py->Py_DecRef(builtin);
    return found;
}

/* The destructor of the capsule that our function holds. At the interpreter's end, it is too late to register again. */
static void dropped(void *capsule) {
    (void)capsule;
    if (vt_get(&ending) || !vt_python_lives())
        return;
    registered = -1;
    registrations = 0;
    if (!vt_get(&waiting))
        add_pending(0);
}

static bool watches_all; /* with the GIL held */

static void all_ended(void) {
    watches_all = false;
    vt_put(&ended, 1);
    vt_get (&at_all_ended)();
}

bool vt_python_has_ended(void) {
    return vt_get(&ended) && !vt_python_lives();
}

static bool is_main_interpreter(void) {
    const struct vt_pyimage *image = &vt_pyimage;
    return !image->this_interpreter || !image->main_interpreter ||
           image->this_interpreter() == image->main_interpreter();
}

/* The number of registered functions; -1: unknown. */
static long count(const struct vt_pycalls *py) {
    void *function = function_of(py, "_ncallbacks");
    void *number = function ? py->PyObject_CallFunctionObjArgs(function, NULL) : NULL;
    long n = number ? py->PyLong_AsLong(number) : -1;
    if (number)
        py->Py_DecRef(number);
    if (function)
        py->Py_DecRef(function);
    py->PyErr_Clear();
    return n;
}

static void add(const struct vt_pycalls *py) {
    void *function = function_of(py, "register");
    void *capsule = function ? py->PyCapsule_New(&method, "vramtrace", dropped) : NULL;
    void *ours = capsule ? py->PyCFunction_NewEx(&method, capsule, NULL) : NULL;
    void *result = ours ? py->PyObject_CallFunctionObjArgs(function, ours, NULL) : NULL;
    if (result)
        py->Py_DecRef(result);
    if (ours)
        py->Py_DecRef(ours);
    if (capsule)
        py->Py_DecRef(capsule);
    if (function)
        py->Py_DecRef(function);
    py->PyErr_Clear();
    if (!watches_all) /* Py_AtExit's functions are called once per start of Python */
        watches_all = py->Py_AtExit(all_ended) == 0;
    registrations++;
    vt_put(&ending, false);
}

/* The pending call. */
static int in_interpreter(void *unused) {
    (void)unused;
    const struct vt_pycalls *py = &vt_pyimage.calls;
    void *type, *value, *trace;
    int saved_errno = errno;
    vt_put(&waiting, 0);
    vt_put(&looks, 0);
    /* Destructors during the interpreter's shutdown also make pending calls. */
    if (!vt_python_lives() || !is_main_interpreter())
        return 0;
    vt_put(&ended, 0);
    py->PyErr_Fetch(&type, &value, &trace);
    long now = count(py);
    if ((now < 0 || now != registered) && registrations < REGISTERED_MOST) {
        add(py);
        registered = count(py);
    }
    vt_get (&at_call)();
    py->PyErr_Restore(type, value, trace);
    errno = saved_errno;
    return 0;
}

/* If a call is added after the last pending calls were made, CPython 3.8 prints an error; later versions never make the
 * call. */
static bool is_finishing(void) {
    int finishing = 1;
    if (vt_pyimage.at.minor != 8)
        return false;
    return !vt_pyimage.runtime ||
           !vt_python_peek(&finishing, vt_pyimage.runtime + FINISHING_38, sizeof finishing) ||
           finishing;
}

static void add_pending(uint32_t now) {
    const struct vt_pyimage *image = &vt_pyimage;
    if (is_finishing() || !vt_claim(&waiting, now, now + 1))
        return;
    /* A signal handler that re-entered this function would wait for its own thread's lock. */
    uint64_t held = vt_sys_hold_signals();
    if ((image->add_pending_to
             ? image->add_pending_to(image->main_interpreter(), in_interpreter, NULL)
             : image->calls.Py_AddPendingCall(in_interpreter, NULL)) != 0)
        vt_add(&waiting, -1);
    vt_sys_let_signals(held);
}

void vt_python_watch_end(void (*call)(void), void (*soon)(void), void (*all)(void),
                         bool (*is_end)(void)) {
    if (vt_python_state(NULL) != VT_PYTHON_ACTIVE || !vt_pyimage.calls.Py_AddPendingCall ||
        !vt_python_lives() || vt_get(&vt_sys_sealed))
        return;
    uint32_t now = vt_get(&waiting);
    if (now && (now >= CALLS_MOST || (vt_add(&looks, 1) + 1) % LOOKS_PER_CALL))
        return;
    vt_put(&at_call, soon);
    vt_put(&at_end, call);
    vt_put(&at_all_ended, all);
    vt_put(&in_end, is_end);
    add_pending(now);
}

bool vt_python_is_ending(void) {
    return vt_get(&ending);
}

void vt_python_end_forked(void) {
    vt_put(&ending, false);
    vt_put(&waiting, 0);
    vt_put(&looks, 0);
}
