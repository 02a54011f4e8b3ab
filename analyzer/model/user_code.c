/* SPDX-License-Identifier: MIT */
/*
 * Which frames are user code (see user_code.h): all but those listed. symbols/stacks.c calls this for each frame.
 */
#include "user_code.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Shared libraries that are not user code, besides those of libraries.def: names without ".so" and version. */
static const char foreign_libraries[] =
    "libvramtrace "
    /* C and C++ libraries, the loader, thread and OpenMP runtimes */
    "libc libm libdl libpthread librt ld-linux-x86-64 ld-linux-aarch64 ld-musl-x86_64 "
    "ld-musl-aarch64 ld "
    "libstdc++ libgcc_s libc++ libc++abi libunwind libunwind-x86_64 libunwind-aarch64 libgomp "
    "libomp libiomp5 "
    "libtbb libtbb12 libtbbmalloc libtbbmalloc_proxy libtbbbind libffi linux-vdso libasan libtsan "
    "libubsan liblsan "
    /* known frameworks outside site-packages */
    "libtorch libtorch_cpu libtorch_cuda libtorch_cuda_cu libtorch_cuda_cpp libtorch_cuda_linalg "
    "libtorch_hip "
    "libtorch_nvshmem libtorch_python libtorch_global_deps libtorch_xpu libshm libc10 libc10_xpu "
    "libdali libdali_core libdali_kernels libdali_operators "
    "libmxnet libonnxruntime libonnxruntime_providers_shared libonnxruntime_providers_cuda "
    "libonnxruntime_providers_tensorrt librmm libcudf libcuml libcuml++ libcuvs libraft "
    "libmpi libmpi_cxx libmpicxx libmpich libopen-rte libopen-pal libucp libucs libuct libucm "
    "libavcodec libavutil libavfilter libavformat libavdevice libswscale "
    "libopencv_core libopencv_cudaarithm libopencv_cudabgsegm libopencv_cudacodec "
    "libopencv_cudafeatures2d "
    "libopencv_cudafilters libopencv_cudaimgproc libopencv_cudalegacy libopencv_cudaobjdetect "
    "libopencv_cudaoptflow libopencv_cudastereo libopencv_cudawarping libopencv_cudev "
    "libggml libggml-base libggml-cpu libggml-cuda libggml-blas libggml-rpc libggml-vulkan";

/* These may be anywhere in the path of a source file or module. The last are Rust's: its standard library (as built, or
 * from the user's copy of its sources) and packages. */
static const char *const foreign_folders[] = {
    "/site-packages/", "/dist-packages/", "/include/c++/",
    "/include/rmm/",   "/usr/include/",   "/vramtrace_pytest.py", /* our pytest plugin */
    "/rustc/",         "/rustlib/",       "/.cargo/registry/",
    "/.cargo/git/",
};

/* Header-only libraries, by a folder in the path. A source file in such a folder may be the user's. */
static const char *const foreign_headers[] = {"/cccl/", "/thrust/", "/cub/", "/libcudacxx/"};
static const char *const header_endings[] = {".h", ".hpp", ".cuh", ".inl"};

/* Prefixes of function names in CUDA's headers. */
static const char *const foreign_namespaces[] = {"thrust::", "cub::", "cuda::std::"};

/* Upper bound on the lines of a package's console script: pip's have 8, or 10 if the interpreter's path is too long for
 * "#!". */
#define CONSOLE_SCRIPT_LINES 12

static bool is_foreign_library(const struct vt_frame *frame) {
    size_t length;
    const struct vt_library *row = frame->other ? NULL : vt_library_of(frame->module);
    const char *name = vt_library_stem(frame->module, &length), *dash = memchr(name, '-', length);
    /* old glibc has a version before ".so": libc-2.31.so */
    if (dash && strspn(dash + 1, "0123456789.") >= (size_t)(name + length - dash - 1))
        length = (size_t)(dash - name);
    return (row && row->what != VT_LIBRARY_PASSING) ||
           vt_library_listed(name, length, foreign_libraries);
}

/* Whether the `length` bytes at `name` are a version, as in "12.4". */
static bool is_version(const char *name, size_t length) {
    return length && strspn(name, "0123456789.") >= length;
}

/* .../cuda/include/, .../cuda-13.0/include/, .../cuda/12.4/include/, .../targets/sbsa-linux/include/: the toolkit's
 * headers, wherever it is installed. */
static bool is_toolkit_path(const char *path) {
    for (const char *at = strstr(path, "/include/"); at; at = strstr(at + 1, "/include/")) {
        const char *folder = at;
        while (folder > path && folder[-1] != '/')
            folder--;
        size_t length = (size_t)(at - folder), version = 4;
        if (length >= 4 && !memcmp(folder, "cuda", 4)) {
            version += length > 4 && (folder[4] == '-' || folder[4] == '_');
            if (length == 4 || is_version(folder + version, length - version))
                return true;
        }
        if (folder - path >= 9 && !memcmp(folder - 9, "/targets/", 9))
            return true;
        if (folder - path >= 6 && !memcmp(folder - 6, "/cuda/", 6) && is_version(folder, length))
            return true;
    }
    return false;
}

static bool is_header(const char *path) {
    const char *ending = strrchr(vt_basename(path), '.');
    for (size_t i = 0; ending && i < sizeof header_endings / sizeof *header_endings; i++)
        if (!strcmp(ending, header_endings[i]))
            return true;
    return false;
}

static bool is_foreign_path(const char *path) {
    for (size_t i = 0; i < sizeof foreign_folders / sizeof *foreign_folders; i++)
        if (strstr(path, foreign_folders[i]))
            return true;
    for (size_t i = 0; i < sizeof foreign_headers / sizeof *foreign_headers; i++)
        if (strstr(path, foreign_headers[i]) && is_header(path))
            return true;
    return is_toolkit_path(path) || vt_python_file_is_generated(path);
}

/* The start of the name in a demangled function, which for templates begins with the result type. */
static const char *bare_name(const char *function) {
    const char *start = function;
    int depth = 0;
    for (const char *at = function; *at; at++) {
        if (*at == '<' || *at == '{')
            depth++;
        else if ((*at == '>' || *at == '}') && depth)
            depth--;
        else if (*at == ' ' && !depth)
            start = at + 1;
        else if (*at == '(' && !depth) {
            if (strncmp(at, "(anonymous namespace)", strlen("(anonymous namespace)")) != 0)
                break;
            at += strlen("(anonymous namespace)") - 1;
        }
    }
    return start;
}

/* In libcudart_static.a every function outside the API is named libcudart_static_ and 40 digits, which change with
 * each release. */
static bool is_static_runtime(const char *function) {
    static const char beginning[] = "libcudart_static_";
    size_t length = sizeof beginning - 1;
    return function && !strncmp(function, beginning, length) &&
           strspn(function + length, "0123456789abcdef") == 40;
}

/* cudaMalloc, __cudaRegisterFatBinary and the like, from a library without debug information. */
static bool is_runtime_call(const struct vt_frame *frame) {
    const char *name = frame->function;
    if (!name || frame->python || frame->file)
        return false;
    name += strspn(name, "_");
    return !strncmp(name, "cuda", 4) && isupper((unsigned char)name[4]);
}

uint32_t vt_user_code_static_runtime(const struct vt_frame *frames, uint32_t count) {
    uint32_t n = 0;
    while (n < count && !frames[n].python && is_static_runtime(frames[n].function))
        n++;
    if (n && n < count && is_runtime_call(&frames[n]) && frames[n].module == frames[n - 1].module)
        n++;
    return n;
}

/* A function of the static runtime or of CUDA's headers: Thrust's and CUB's, and cudaMalloc<float>,
 * cudaMallocManaged<float> and the like, which only call the runtime. */
static bool is_foreign_function(const char *function) {
    if (is_static_runtime(function))
        return true;
    const char *name = bare_name(function);
    for (size_t i = 0; i < sizeof foreign_namespaces / sizeof *foreign_namespaces; i++)
        if (!strncmp(name, foreign_namespaces[i], strlen(foreign_namespaces[i])))
            return true;
    if (strncmp(name, "cudaMalloc", strlen("cudaMalloc")) != 0)
        return false;
    while (isalpha((unsigned char)*name))
        name++;
    return *name == '<';
}

/* The standard library: /usr/lib/python3.11/threading.py, .../lib64/python3.12/json/..., and frozen
 * modules. */
static bool is_python_library(const char *file) {
    if (!strncmp(file, "<frozen ", 8))
        return true;
    const char *at = strstr(file, "/python");
    for (; at; at = strstr(at + 1, "/python")) {
        const char *version = at + strlen("/python");
        size_t length = strspn(version, "0123456789.t");
        bool in_lib = at >= file + 4 && (!memcmp(at - 4, "/lib", 4) ||
                                         (at >= file + 6 && !memcmp(at - 6, "/lib64", 6)));
        if (length && version[length] == '/' && in_lib)
            return true;
    }
    return false;
}

static bool matches(const char *text, const char *pattern) {
    if (!text)
        return false;
    if (!strchr(pattern, '*'))
        return strstr(text, pattern) != NULL;
    VT_SCOPED char *anywhere = vt_formatted("*%s*", pattern);
    bool match = !fnmatch(anywhere, text, 0);
    return match;
}

static bool begins_with(const char *text, const char *beginning) {
    return !strncmp(text, beginning, strlen(beginning));
}

/* PyTorch's c10, its functions that make empty tensors, and classes named ...Allocator... */
static bool is_allocator(const char *name) {
    static const char *const beginnings[] = {"c10::", "at::detail::", "at::native::empty",
                                             "at::_ops::empty", "at::empty"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins_with(name, beginnings[i]))
            return true;
    const char *at = strstr(name, "Allocator");
    return at && at < name + strcspn(name, "(");
}

enum vt_user_code_rank vt_user_code_rank(const struct vt_frame *frame) {
    if (frame->python)
        return VT_USER_CODE_PYTHON;
    if (frame->interpreter)
        return VT_USER_CODE_INTERPRETER;
    if (!frame->function)
        return VT_USER_CODE_OTHER;
    const char *name = bare_name(frame->function), *parameters = strchr(name, '(');
    if (is_allocator(name))
        return VT_USER_CODE_ALLOCATOR;
    if (begins_with(name, "at::_ops::"))
        return VT_USER_CODE_OPERATOR;
    if (begins_with(name, "torch::autograd::") && parameters - name > 7 &&
        begins_with(parameters - 7, "::apply"))
        return VT_USER_CODE_NODE;
    return VT_USER_CODE_OTHER;
}

/* Whether a pattern of --own matches the frame. */
static bool is_named(const struct vt_frame *frame, const char *const *patterns) {
    for (; patterns && *patterns; patterns++)
        if (matches(frame->function, *patterns) || matches(frame->file, *patterns) ||
            matches(frame->module, *patterns))
            return true;
    return false;
}

bool vt_user_code_frame(const struct vt_frame *frame, const char *const *patterns) {
    if (is_named(frame, patterns))
        return true;
    if (frame->interpreter)
        return false;
    if (frame->python)
        return frame->file && !is_foreign_path(frame->file) && !is_python_library(frame->file);
    if (!frame->module)
        return false; /* generated code has no source line */
    if (vt_library_is_python(frame->module) || is_foreign_library(frame) ||
        is_foreign_path(frame->module) || is_python_library(frame->module))
        return false;
    /* the C library's start-up code in a program has no file */
    if (frame->function &&
        (!strcmp(frame->function, "_start") || !strcmp(frame->function, "__libc_start_main") ||
         is_foreign_function(frame->function)))
        return false;
    return !frame->file || !is_foreign_path(frame->file);
}

/* Module-level code in the first lines of a file without an extension in a `bin` folder. */
static bool is_console_script(const struct vt_frame *frame) {
    if (!frame->python || !frame->file || !frame->function || !frame->line ||
        frame->line > CONSOLE_SCRIPT_LINES || strcmp(frame->function, "<module>") != 0)
        return false;
    const char *name = vt_basename(frame->file);
    size_t folder = (size_t)(name - frame->file);
    return folder >= 5 && !memcmp(name - 5, "/bin/", 5) && !strchr(name, '.');
}

void vt_user_code_drop_script(struct vt_frame *frames, uint32_t count,
                              const char *const *patterns) {
    const struct vt_frame *called = NULL; /* the last Python frame further in */
    bool user = false;
    for (uint32_t i = 0; i < count; i++) {
        struct vt_frame *frame = &frames[i];
        if (user && called && frame->user_code && is_console_script(frame) && called->file &&
            strcmp(called->file, frame->file) != 0 && !is_named(frame, patterns))
            frame->user_code = false;
        user |= frame->user_code;
        if (frame->python)
            called = frame;
    }
}
