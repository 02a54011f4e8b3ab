/* SPDX-License-Identifier: MIT */
/*
 * run_program.c and run_elf.c on crafted files: which file a command is, and whether the tracer can
 * be preloaded into it.
 */
#define _GNU_SOURCE
#include "base/base.h"
#include "run/run_elf.h"
#include "run/run_program.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64]; /* every test's working folder, fresh for the whole program */

static int enter(void **state) {
    (void)state;
    strcpy(folder, "/tmp/vramtrace-unit.XXXXXX");
    return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void put(const char *path, const void *bytes, size_t size, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    assert_int_equal(chmod(path, mode), 0);
}

static void put_text(const char *path, const char *text, mode_t mode) {
    put(path, text, strlen(text), mode);
}

/* The file's bytes; free them. */
static char *get(const char *path, size_t *size) {
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && !fstat(fd, &st));
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return bytes;
}

/* Inspects; the message must hold `expected` (NULL: be empty). */
static void expect(int status, const char *expected, const char *path, bool simulated) {
    struct vt_string message = {0};
    int found = vt_run_program_inspect(path, simulated, &message);
    if (found != status ||
        (expected ? !message.text || !strstr(message.text, expected) : message.length != 0))
        fail_msg("%s: expected status %d and '%s', found %d and '%s'", path, status,
                 expected ? expected : "", found, message.text ? message.text : "");
    vt_string_free(&message);
}

static void expect_found(int status, const char *expected, const char *command,
                         const char *search) {
    struct vt_string message = {0};
    char *path;
    int found = vt_run_program_find(command, search, &path, &message);
    const char *said = path ? path : message.text;
    if (found != status || !said || !strstr(said, expected) || (status == 0) != (path != NULL))
        fail_msg("%s in %s: expected %d and '%s', found %d and '%s'", command, search, status,
                 expected, found, said ? said : "");
    free(path);
    vt_string_free(&message);
}

/* --- find --- */

static void test_find(void **state) {
    (void)state;
    mkdir("a", 0755);
    mkdir("b", 0755);
    mkdir("a/tool", 0755); /* a folder of that name is passed over */
    put_text("b/tool", "#!/bin/sh\n", 0755);
    put_text("a/plain", "text", 0644);
    put_text("b/late", "#!/bin/sh\n", 0755);
    put_text("a/late", "text", 0644);
    put_text("here", "#!/bin/sh\n", 0755);
    expect_found(0, "b/tool", "tool", "a:b");
    expect_found(0, "b/late", "late", "a:b");
    expect_found(0, "b/late", "late", "/nonexistent:a/late/x:a:b");
    expect_found(0, "./here", "here", "a:");
    expect_found(0, "./here", "here", ":a");
    expect_found(0, "/sh", "sh", NULL);
    expect_found(0, "b/tool", "b/tool", "a");
    expect_found(VT_STATUS_NOT_EXECUTABLE, "folder", "tool", "a");
    expect_found(VT_STATUS_NOT_EXECUTABLE, "a/plain", "plain", "a:b");
    expect_found(VT_STATUS_NOT_EXECUTABLE, "may not execute", "a/plain", "b");
    expect_found(VT_STATUS_NOT_EXECUTABLE, "folder", "./a", "b");
    expect_found(VT_STATUS_NOT_FOUND, "not found", "missing", "a:b");
    expect_found(VT_STATUS_NOT_FOUND, "not found", "./missing", "a:b");
    expect_found(VT_STATUS_NOT_FOUND, "not found", "a/plain/x", "a:b");
    expect_found(VT_STATUS_NOT_FOUND, "empty name", "", "a:b");
}

/* --- ELF --- */

#define LOADER_BYTES 64

/* A program's first bytes: a header, one PT_INTERP that names `loader` (NULL: none). */
struct tiny {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    char loader[LOADER_BYTES];
};

static struct tiny make_tiny(const char *loader) {
    struct tiny t = {0};
    size_t size;
    char *sh = get("/proc/self/exe", &size);
    memcpy(&t.header, sh, sizeof t.header);
    free(sh);
    t.header.e_phoff = sizeof t.header;
    t.header.e_phentsize = sizeof t.segment;
    t.header.e_phnum = 1;
    t.segment.p_type = loader ? PT_INTERP : PT_LOAD;
    t.segment.p_offset = offsetof(struct tiny, loader);
    t.segment.p_filesz = loader ? strlen(loader) + 1 : 0;
    if (loader)
        strcpy(t.loader, loader);
    return t;
}

static void test_dynamic(void **state) {
    (void)state;
    expect(0, NULL, "/bin/sh", true);
    expect(0, NULL, "/proc/self/exe", false); /* these tests hold the marks themselves */
    expect(0, NULL, "./missing", false);
    put_text("script", "echo no first line\n", 0755);
    expect(0, NULL, "./script", false);
    put_text("empty", "", 0755);
    expect(0, NULL, "./empty", true);
}

static void test_loader(void **state) {
    (void)state;
    struct tiny t = make_tiny("/bin/sh");
    put("tiny", &t, sizeof t, 0755);
    expect(0, NULL, "./tiny", false);
    t = make_tiny("/nonexistent/ld.so");
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_NOT_EXECUTABLE, "/nonexistent/ld.so", "./tiny", false);
    t = make_tiny("/lib/ld-musl-x86_64.so.1");
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "musl", "./tiny", false);
    t = make_tiny(NULL);
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "statically linked", "./tiny", false);
}

static void test_other_machine(void **state) {
    (void)state;
    struct tiny t = make_tiny("/bin/sh");
    t.header.e_ident[EI_CLASS] = ELFCLASS32;
    t.header.e_machine = EM_386;
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "32-bit Intel 386", "./tiny", false);
    t = make_tiny("/bin/sh");
    t.header.e_machine = EM_RISCV;
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "64-bit RISC-V", "./tiny", false);
    t = make_tiny("/bin/sh");
    t.header.e_ident[EI_DATA] = ELFDATA2MSB;
    t.header.e_machine = __builtin_bswap16(EM_S390);
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "64-bit S/390", "./tiny", false);
    t.header.e_machine = __builtin_bswap16(999);
    put("tiny", &t, sizeof t, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "machine number 999", "./tiny", false);
}

static void test_cut(void **state) {
    (void)state;
    struct tiny t = make_tiny("/bin/sh");
    for (size_t size = 0; size < offsetof(struct tiny, loader); size++) {
        put("tiny", &t, size, 0755);
        expect(0, NULL, "./tiny", true);
    }
    struct tiny wild = t; /* numbers that lead out of the file */
    wild.header.e_phoff = UINT64_MAX - 8;
    put("tiny", &wild, sizeof wild, 0755);
    expect(0, NULL, "./tiny", true);
    wild = t;
    wild.header.e_phnum = UINT16_MAX;
    put("tiny", &wild, sizeof wild, 0755);
    expect(0, NULL, "./tiny", true);
    wild = t;
    wild.segment.p_filesz = UINT64_MAX;
    put("tiny", &wild, sizeof wild, 0755);
    expect(0, NULL, "./tiny", true);
    wild = t;
    wild.segment.p_type = PT_DYNAMIC;
    wild.segment.p_filesz = UINT64_MAX;
    put("tiny", &wild, sizeof wild, 0755);
    expect(VT_STATUS_CANNOT_TRACE, "statically linked", "./tiny", true);
}

static bool compile(const char *flags) {
    char command[256];
    put_text("p.c", "int main(void) { return 0; }\n", 0644);
    snprintf(command, sizeof command, "gcc %s -o p p.c 2>/dev/null", flags);
    return system(command) == 0;
}

static void test_static(void **state) {
    (void)state;
    if (!compile("-static") || !compile("-static-pie"))
        skip();
    expect(VT_STATUS_CANNOT_TRACE, "statically linked", "./p", false);
    assert_true(compile("-static"));
    expect(VT_STATUS_CANNOT_TRACE, "statically linked", "./p", false);
    assert_true(compile("-no-pie"));
    expect(0, NULL, "./p", false);
    assert_true(compile("-pie -s"));
    expect(0, NULL, "./p", false);
}

/* `ld.so PROGRAM` has no loader, being one, and does preload. */
static void test_loader_itself(void **state) {
    (void)state;
    size_t size;
    char *sh = get("/proc/self/exe", &size);
    Elf64_Ehdr header;
    memcpy(&header, sh, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, sh + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_INTERP)
            expect(0, NULL, sh + segment.p_offset, false);
    }
    free(sh);
}

static void test_setuid(void **state) {
    (void)state;
    if (getuid() != 0)
        skip(); /* cannot give files away */
    size_t size;
    char *sh = get("/bin/sh", &size);
    put("su", sh, size, 0755);
    put_text("call-su", "#!./su -x\n", 0755);
    free(sh);
    assert_int_equal(chown("su", 65534, 65534), 0);
    expect(0, NULL, "./su", false);
    assert_int_equal(chmod("su", 04755), 0);
    expect(VT_STATUS_CANNOT_TRACE, "setuid", "./su", false);
    expect(VT_STATUS_CANNOT_TRACE, "setuid", "./call-su", false);
    assert_int_equal(chmod("su", 02755), 0);
    expect(VT_STATUS_CANNOT_TRACE, "setgid", "./su", false);
    assert_int_equal(chmod("su", 02745), 0); /* not executable by its group: means locking */
    expect(0, NULL, "./su", false);
    assert_int_equal(chown("su", 0, 0), 0);
    assert_int_equal(chmod("su", 06755), 0); /* what root is already */
    expect(0, NULL, "./su", false);
    put_text("script", "#!/bin/sh\n", 0755);
    assert_int_equal(chown("script", 65534, 65534), 0);
    assert_int_equal(chmod("script", 04755), 0); /* the kernel ignores it on scripts */
    expect(0, NULL, "./script", false);
}

/* --- scripts --- */

static void test_scripts(void **state) {
    (void)state;
    struct tiny t = make_tiny(NULL);
    put("static", &t, sizeof t, 0755);
    put_text("s1", "#!./static\n", 0755);
    put_text("s2", "#! \t./s1 an argument\necho\n", 0755);
    put_text("s3", "#!./s2", 0755);
    put_text("s4", "#!./s3\n", 0755);
    const char *scripts[] = {"./s1", "./s2", "./s3", "./s4"};
    for (size_t i = 0; i < 4; i++)
        expect(VT_STATUS_CANNOT_TRACE, "./static: it is statically linked", scripts[i], false);
    put_text("good", "#!/bin/sh -e\n", 0755);
    expect(0, NULL, "./good", true);
    put_text("bad", "#!/nonexistent/python\n", 0755);
    expect(VT_STATUS_NOT_EXECUTABLE, "/nonexistent/python, which is not there", "./bad", false);
    put_text("bad", "#!/tmp\n", 0755);
    expect(VT_STATUS_NOT_EXECUTABLE, "a folder", "./bad", false);
    put_text("plain", "", 0644);
    put_text("bad", "#!./plain\n", 0755);
    expect(VT_STATUS_NOT_EXECUTABLE, "not executable", "./bad", false);
    put_text("self", "#!./self\n", 0755); /* the kernel gives up with ELOOP; we do not hang */
    expect(0, NULL, "./self", false);
    put_text("blank", "#!  \n/bin/sh\n", 0755);
    expect(0, NULL, "./blank", false);
    char deep[300];
    memset(deep, 'x', sizeof deep); /* no newline, longer than the kernel reads */
    memcpy(deep, "#!/", 3);
    put("long", deep, sizeof deep, 0755);
    expect(VT_STATUS_NOT_EXECUTABLE, "", "./long", false);
}

/* --- static runtime --- */

static const char *const marks[] = {"libcuda.so.1", "cuGetProcAddress",
                                    "cudaErrorInsufficientDriver",
                                    "CUDA driver version is insufficient for CUDA runtime version"};

static void test_static_runtime(void **state) {
    (void)state;
    size_t size;
    char *sh = get("/bin/sh", &size);
    char *bytes = calloc(size + 1024, 1);
    for (unsigned have = 0; have < 16; have++) {
        size_t end = size + 1;
        memcpy(bytes, sh, size);
        memset(bytes + size, 0, 1024);
        for (unsigned i = 0; i < 4; i++) {
            if (have & 1u << i) {
                memcpy(bytes + end, marks[i], strlen(marks[i]) + 1);
                end += strlen(marks[i]) + 1;
            }
        }
        put("carrier", bytes, end, 0755);
        if (have == 15)
            expect(VT_STATUS_CANNOT_TRACE, "-cudart shared", "./carrier", true);
        else
            expect(0, NULL, "./carrier", true);
        expect(0, NULL, "./carrier", false);
    }
    free(bytes);
    free(sh);
}

static void test_contains(void **state) {
    (void)state;
    static const char word[] = "needle";
    size_t size = 3u << 20;
    char *bytes = calloc(size, 1);
    put("big", bytes, size, 0644);
    int fd = open("big", O_RDWR);
    assert_false(vt_run_elf_contains(fd, word, sizeof word));
    for (size_t at = (1u << 20) - 8; at <= (1u << 20) + 1; at++) {
        assert_int_equal(pwrite(fd, word, sizeof word, (off_t)at), (ssize_t)sizeof word);
        assert_true(vt_run_elf_contains(fd, word, sizeof word));
        assert_int_equal(pwrite(fd, bytes, sizeof word, (off_t)at), (ssize_t)sizeof word);
        assert_false(vt_run_elf_contains(fd, word, sizeof word));
    }
    assert_int_equal(pwrite(fd, word, sizeof word, (off_t)(size - sizeof word)),
                     (ssize_t)sizeof word);
    assert_true(vt_run_elf_contains(fd, word, sizeof word));
    assert_int_equal(ftruncate(fd, (off_t)size - 1), 0);
    assert_false(vt_run_elf_contains(fd, word, sizeof word));
    close(fd);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),          cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_loader),        cmocka_unit_test(test_other_machine),
        cmocka_unit_test(test_cut),           cmocka_unit_test(test_static),
        cmocka_unit_test(test_loader_itself), cmocka_unit_test(test_setuid),
        cmocka_unit_test(test_scripts),       cmocka_unit_test(test_static_runtime),
        cmocka_unit_test(test_contains),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
