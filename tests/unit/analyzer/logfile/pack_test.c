/* SPDX-License-Identifier: MIT */
/*
 * Packs: packed files are unpacked; a pack that is cut at any byte, or has wrong lengths or names, is refused with
 * its offset, and never unpacked beyond its stated size.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "logfile/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 3 << 20 };

static char folder[] = "/tmp/vt_pack_XXXXXX";
static char *content; /* of the log */

/* A path that no pack had before: those that were opened stay open. */
static char *new_path(void) {
    static unsigned number;
    return vt_formatted("%s/%u.vtz", folder, number++);
}

static int make_folder(void **state) {
    (void)state;
    content = vt_alloc(BYTES, 1);
    for (uint32_t i = 0; i < BYTES; i++)
        content[i] = (char)(i % 4096 ? i / 4096 : vt_mix(i));
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    free(content);
    VT_SCOPED char *command = vt_formatted("rm -r %s", folder);
    return system(command);
}

struct part {
    uint32_t kind;
    const char *name;
    const char *bytes;
    size_t length;
};

static int from_memory(const char *bytes, size_t length) {
    int fd = vt_file_temporary();
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    return fd;
}

/* Writes a pack of these. Free its path. */
static char *write_pack(const struct part *parts, unsigned count, bool is_folder) {
    struct vt_pack_writer w;
    struct vt_string message = {0};
    char *path = new_path();
    int out = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    w = vt_pack_begin(out, is_folder);
    for (unsigned i = 0; i < count; i++) {
        struct vt_pack_section section = {.kind = parts[i].kind, .flags = VT_PACK_RUNNING};
        int from = from_memory(parts[i].bytes, parts[i].length);
        assert_int_equal(
            vt_pack_add_file(&w, &section, parts[i].name, from, parts[i].length, &message), 0);
        assert_int_equal(section.unpacked, parts[i].length);
        close(from);
    }
    struct vt_pack_section answers = {.kind = VT_PACK_ANSWERS};
    assert_int_equal(vt_pack_add_bytes(&w, &answers, &(struct vt_string){0}, &message), 0);
    assert_int_equal(vt_pack_end(&w, &message), 0);
    close(out);
    return path;
}

static void check_content(const char *path, enum vt_pack_kind kind, const char *bytes,
                          size_t length) {
    struct vt_log_origin origin;
    struct vt_string message = {0};
    struct stat st;
    int fd = vt_log_file_open(path, kind, UINT64_MAX, &origin, &message);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, length);
    VT_SCOPED char *found = vt_alloc(length, 1);
    assert_int_equal(vt_file_read_at(fd, found, length, 0), length);
    assert_memory_equal(found, bytes, length);
    assert_true(origin.packed && origin.running && !origin.foreign && origin.answers);
    close(fd);
}

static void check_refused(const char *path, const char *why) {
    struct vt_string message = {0};
    int fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, NULL, &message);
    if (fd >= 0 || !message.text || !strstr(message.text, why))
        fail_msg("%s: expected '%s', found '%s'", path, why,
                 message.text ? message.text : "nothing");
    vt_string_free(&message);
}

static void round_trip(void **state) {
    (void)state;
    struct part parts[] = {{VT_PACK_LOG, "a.vtl", content, BYTES},
                           {VT_PACK_NVML, "a.vtl", "samples", 7},
                           {VT_PACK_SUMMARY, "a.vtl", "sums", 4},
                           {VT_PACK_LOG, "b.vtl", "", 0}};
    VT_SCOPED char *one = write_pack(parts, 3, false), *many = write_pack(parts, 4, true);
    VT_SCOPED char *a = vt_formatted("%s/a.vtl", many), *b = vt_formatted("%s/b.vtl", many),
                   *c = vt_formatted("%s/c.vtl", many);
    struct vt_string message = {0};
    check_content(one, VT_PACK_LOG, content, BYTES);
    check_content(one, VT_PACK_SUMMARY, "sums", 4);
    check_content(a, VT_PACK_LOG, content, BYTES);
    check_content(a, VT_PACK_NVML, "samples", 7);
    check_content(b, VT_PACK_LOG, "", 0);
    assert_int_equal(vt_log_file_open(b, VT_PACK_NVML, UINT64_MAX, NULL, &message), -ENOENT);
    check_refused(c, "no log of this name");
    check_refused(many, "name one");
    int fd =
        vt_log_file_open(one, VT_PACK_LOG, 100, NULL, &message); /* not all of it is unpacked */
    assert_in_range(lseek(fd, 0, SEEK_END), 100, BYTES / 2);
    close(fd);
}

/* Nothing but zeros is packed so well that it looks like a bomb: it is read all the same. */
static void zeros(void **state) {
    (void)state;
    enum { LENGTH = 1 << 28 };
    struct vt_pack_writer w;
    struct vt_string message = {0};
    struct vt_pack_section section = {.kind = VT_PACK_LOG, .flags = VT_PACK_RUNNING};
    VT_SCOPED char *path = new_path();
    int out = open(path, O_RDWR | O_CREAT | O_EXCL, 0600), from = vt_file_temporary();
    assert_int_equal(ftruncate(from, LENGTH), 0);
    w = vt_pack_begin(out, false);
    assert_int_equal(vt_pack_add_file(&w, &section, "a.vtl", from, LENGTH, &message), 0);
    struct vt_pack_section answers = {.kind = VT_PACK_ANSWERS};
    assert_int_equal(vt_pack_add_bytes(&w, &answers, &(struct vt_string){0}, &message), 0);
    assert_int_equal(vt_pack_end(&w, &message), 0);
    assert_true(section.unpacked <= vt_pack_most(VT_PACK_LOG, section.packed));
    assert_in_range(section.packed, LENGTH / 4096, LENGTH / 256);
    int fd = vt_log_file_open(path, VT_PACK_LOG, UINT64_MAX, NULL, &message);
    assert_int_equal(lseek(fd, 0, SEEK_END), LENGTH);
    close(fd);
    close(out);
    close(from);
}

static void cut(void **state) {
    (void)state;
    struct part parts[] = {{VT_PACK_LOG, "a.vtl", content, BYTES},
                           {VT_PACK_NVML, "a.vtl", "samples", 7}};
    VT_SCOPED char *whole = write_pack(parts, 2, false);
    int from = open(whole, O_RDONLY);
    off_t length = lseek(from, 0, SEEK_END);
    VT_SCOPED char *bytes = vt_alloc((size_t)length, 1);
    assert_int_equal(vt_file_read_at(from, bytes, (size_t)length, 0), length);
    close(from);
    for (off_t end = 8; end < length; end += end < 200 || end > length - 200 ? 1 : 97) {
        VT_SCOPED char *path = new_path();
        int out = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        assert_int_equal(write(out, bytes, (size_t)end), end);
        close(out);
        check_refused(path, "cut off");
        unlink(path);
    }
}

/* Changes the first section's header, and its check with it. */
static void check_lie(void (*lie)(struct vt_pack_section *, char *), const char *why) {
    struct part parts[] = {{VT_PACK_LOG, "a.vtl", content, BYTES},
                           {VT_PACK_LOG, "b.vtl", content, 100}};
    VT_SCOPED char *path = write_pack(parts, 2, true), *log = vt_formatted("%s/a.vtl", path);
    struct {
        struct vt_pack_section section;
        char name[5];
    } first;
    size_t at = sizeof(struct vt_pack_header), length = sizeof first.section + sizeof first.name;
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &first, length, (off_t)at), length);
    assert_int_equal(first.section.check, vt_pack_check(first.section, first.name));
    lie(&first.section, first.name);
    first.section.check = vt_pack_check(first.section, first.name);
    assert_int_equal(pwrite(fd, &first, length, (off_t)at), length);
    close(fd);
    check_refused(log, why);
}

static void more(struct vt_pack_section *s, char *name) {
    (void)name;
    s->unpacked++;
}
static void fewer(struct vt_pack_section *s, char *name) {
    (void)name;
    s->unpacked -= 4096;
}
static void bomb(struct vt_pack_section *s, char *name) {
    (void)name;
    s->unpacked = 1ull << 40;
}
static void nothing(struct vt_pack_section *s, char *name) {
    (void)name;
    s->packed = UINT64_MAX - 10;
}
static void away(struct vt_pack_section *s, char *name) {
    (void)s;
    memcpy(name, "../vt", 5);
}
static void same(struct vt_pack_section *s, char *name) {
    (void)s;
    name[0] = 'b';
}
static void nul(struct vt_pack_section *s, char *name) {
    (void)s;
    name[1] = 0;
}

static void lies(void **state) {
    (void)state;
    check_lie(more, "it holds less than its header says");
    check_lie(fewer, "it holds more than its header says");
    check_lie(bomb, "longer than any that is written");
    check_lie(nothing, "behind the end of the file");
    check_lie(away, "no name of its own");
    check_lie(same, "no name of its own");
    check_lie(nul, "no name of its own");
}

static void newer(void **state) {
    (void)state;
    struct part part = {VT_PACK_LOG, "a.vtl", content, 100};
    VT_SCOPED char *path = write_pack(&part, 1, false);
    uint32_t version[] = {VT_PACK_VERSION + 2, VT_PACK_VERSION + 1};
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, version, sizeof version, 8), sizeof version);
    close(fd);
    check_refused(
        path, "format version 3 and needs a reader of version 2; this vramtrace reads version 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(zeros), cmocka_unit_test(cut),
        cmocka_unit_test(lies),       cmocka_unit_test(newer),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
