/* SPDX-License-Identifier: MIT */
/*
 * The walk, on artificial objects: an allocation's path, merged steps, other owners, roles, and where the walk ends.
 */
#define _GNU_SOURCE
#include "objects.h"

#include <signal.h>

static void the_users_name_wins(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0) + 8)};
    const struct object held = OBJECT(thing, memory);
    const struct vt_edge inner_edges[] = {ATTR("x", &held)};
    const struct object inner = OBJECT(thing, inner_edges);
    const struct vt_edge mine[] = {NAMED("a", &inner)}, theirs[] = {NAMED("registry", &held)};
    const struct root both[] = {MODULE(VT_LEVEL_LIBRARY, "numba", theirs),
                                MODULE(VT_LEVEL_USER, "main", mine)};
    char text_[200];
    roots = both;
    root_count = 2;
    walk(2, UINT64_MAX, VT_KIND_DEVICE);
    const struct vt_owned *e = owned(0, 0, text_);
    assert_non_null(e);
    assert_string_equal(text_, "main.a.x");
    assert_int_equal(e->holders, 2);
    assert_non_null(owned(0, 1, text_));
    assert_string_equal(text_, "numba.registry");
    assert_null(owned(0, 2, text_));
    assert_null(owned(1, 0, text_)); /* no owner */
    assert_int_equal(w->answer->owned, 1);
    assert_int_equal(w->answer->flags, VT_SNAPSHOT_IN_PLACE | VT_SNAPSHOT_PARTIAL);
    end();
}

enum { ITEMS = 1000 };

static void a_list_is_one_step(void **state) {
    (void)state;
    static struct object objects[ITEMS + 1];
    static struct vt_edge items[ITEMS + 1], memory[ITEMS + 1];
    for (uint32_t i = 0; i <= ITEMS; i++) {
        memory[i] = (struct vt_edge)MEMORY(AT(i));
        objects[i] = (struct object){.type = &thing, .edges = &memory[i], .count = 1};
        items[i] = (struct vt_edge)ITEM(i, &objects[i]);
    }
    const struct object many = {.type = &list, .edges = items, .count = ITEMS},
                        one = {.type = &list, .edges = items + ITEMS, .count = 1};
    const struct vt_edge names[] = {NAMED("history", &many), NAMED("one", &one)};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(ITEMS + 1, UINT64_MAX, VT_KIND_BLOCK);
    uint32_t first = owned(0, 0, text_)->step;
    assert_string_equal(text_, "main.history[*]");
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(owned(i, 0, text_)->step, first);
    assert_non_null(owned(ITEMS, 0, text_));
    assert_string_equal(text_, "main.one[1000]");
    assert_int_equal(steps_written(), 5); /* the module, two lists, two items */
    assert_memory_equal((const char *)(step(first) + 1), "Thing", 5);
    end();
}

static void keys_are_names_up_to_64(void **state) {
    (void)state;
    const struct vt_edge first[] = {MEMORY(AT(0))}, second[] = {MEMORY(AT(1))};
    const struct object a = OBJECT(thing, first), b = OBJECT(thing, second);
    const struct vt_edge keys[] = {KEY("'a'", &a), KEY("'b'", &b)};
    struct object few = OBJECT(dict, keys);
    const struct vt_edge names[] = {NAMED("cache", &few)};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    few.keys = VT_OWNERS_KEYS;
    walk(2, UINT64_MAX, VT_KIND_DEVICE);
    assert_non_null(owned(1, 0, text_));
    assert_string_equal(text_, "main.cache['b']");
    end();
    few.keys = VT_OWNERS_KEYS + 1;
    walk(2, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->step, owned(1, 0, text_)->step);
    assert_string_equal(text_, "main.cache[*]");
    end();
}

enum { LONG = 100000 };

static void a_linked_list_is_few_steps(void **state) {
    (void)state;
    static struct object nodes[LONG];
    static struct vt_edge edges[LONG];
    for (uint32_t i = 0; i < LONG; i++) {
        edges[i] = i + 1 < LONG ? (struct vt_edge)ATTR("next", &nodes[i + 1])
                                : (struct vt_edge)MEMORY(AT(0));
        nodes[i] = (struct object){.type = &thing, .edges = &edges[i], .count = 1};
    }
    const struct vt_edge names[] = {NAMED("head", &nodes[0])};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.head.next.next.next~");
    assert_true(steps_written() < 8);
    end();
    /* The limit ends it before the list ends; later items have no entry. */
    walk(1, LONG / 2, VT_KIND_DEVICE);
    assert_null(owned(0, 0, text_));
    assert_true(w->answer->flags & VT_SNAPSHOT_PARTIAL);
    end();
}

/* A sum of ROUNDS losses, each after the sum before it, and a list of as many: merged nodes are counted. */
static void graphs_are_counted(void **state) {
    (void)state;
    enum { ROUNDS = 100 };
    static const struct type add = {.name = "AddBackward0"}, loss = {.name = "MseLossBackward0"};
    static struct object sums[ROUNDS], losses[2 * ROUNDS];
    static struct vt_edge sum_edges[ROUNDS][2], memory[2 * ROUNDS], items[ROUNDS];
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        memory[i] = (struct vt_edge)MEMORY(AT(i));
        losses[i] = (struct object){.type = &loss, .edges = &memory[i], .count = 1};
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        sum_edges[i][0] = (struct vt_edge)NODE(&losses[i]);
        sum_edges[i][1] = (struct vt_edge)NODE(i ? &sums[i - 1] : NULL);
        sums[i] = (struct object){.type = &add, .edges = sum_edges[i], .count = 2};
    }
    static struct vt_edge node_of[ROUNDS];
    static struct object tensors[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        node_of[i] = (struct vt_edge)NODE(&losses[ROUNDS + i]);
        tensors[i] = (struct object){.type = &thing, .edges = &node_of[i], .count = 1};
        items[i] = (struct vt_edge)ITEM(i, &tensors[i]);
    }
    const struct vt_edge total_edges[] = {NODE(&sums[ROUNDS - 1])};
    const struct object total = OBJECT(thing, total_edges), kept = OBJECT(list, items);
    const struct vt_edge variables[] = {NAMED("total", &total), NAMED("kept", &kept)};
    const struct root one[] = {MODULE(VT_LEVEL_USER, "main", variables)};
    char text_[200];
    roots = one;
    root_count = 1;
    walk(2 * ROUNDS, UINT64_MAX, VT_KIND_DEVICE);
    const struct vt_owned *e = owned(0, 0, text_);
    assert_non_null(e);
    const struct vt_rec_step *first = step(step(e->step)->parent);
    assert_int_equal(first->flags & VT_STEP_REPEATS, VT_STEP_REPEATS);
    assert_int_equal(first->line, 1); /* one sum */
    assert_int_equal(vt_step_row(first->address), ROUNDS);
    assert_int_equal(vt_step_length(first->address), ROUNDS + 1);
    assert_int_equal(step(e->step)->line, 0);
    e = owned(ROUNDS, 0, text_);
    assert_non_null(e);
    assert_int_equal(step(e->step)->line, ROUNDS);
    assert_int_equal(vt_step_row(step(e->step)->address), 1);
    assert_int_equal(vt_step_length(step(e->step)->address), 1);
    assert_int_equal(step(step(e->step)->parent)->line, ROUNDS); /* the list's items */
    end();
}

static void a_role_reaches_what_was_read_before(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0))}, key_memory[] = {MEMORY(AT(1))};
    const struct object held = OBJECT(thing, memory), key = OBJECT(thing, key_memory);
    const struct vt_edge entries[] = {KEY("'exp_avg'", &held),
                                      {.kind = VT_STEP_ITEM, .to = (uintptr_t)&key, .apart = true}};
    const struct object state_ = OBJECT(dict, entries);
    const struct vt_edge attributes[] = {ATTR("state", &state_), ATTR("other", &state_)};
    const struct object adam = OBJECT(optimizer, attributes);
    const struct vt_edge names[] = {NAMED("moments", &held), NAMED("s", &state_)},
                         late[] = {NAMED("adam", &adam)};
    const struct root both[] = {MODULE(VT_LEVEL_USER, "main", names),
                                MODULE(VT_LEVEL_OWN, "lib", late)};
    char text_[200];
    roots = both;
    root_count = 2;
    walk(2, UINT64_MAX, VT_KIND_BLOCK);
    assert_int_equal(owned(0, 0, text_)->roles, VT_ROLE_OPTIMIZER);
    assert_string_equal(text_, "main.moments");
    assert_int_equal(owned(0, 0, text_)->holders, 2);
    assert_int_equal(owned(1, 0, text_)->roles, 0);
    end();
}

static void an_optimizer_names_no_parameters(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0))};
    const struct object weight = OBJECT(thing, memory);
    const struct vt_edge of_layer[] = {ATTR("weight", &weight)},
                         of_adam[] = {ATTR("first", &weight)};
    const struct object layer = OBJECT(thing, of_layer), adam = OBJECT(optimizer, of_adam);
    const struct vt_edge of_model[] = {ATTR("layer", &layer)};
    const struct object model = OBJECT(thing, of_model);
    const struct vt_edge names[] = {NAMED("opt", &adam), NAMED("model", &model)};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_BLOCK);
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.model.layer.weight");
    assert_non_null(owned(0, 1, text_));
    assert_string_equal(text_, "main.opt.first");
    end();
}

static void a_number_owns_what_nothing_else_does(void **state) {
    (void)state;
    const struct vt_edge as_number[] = {NUMBER(AT(0))}, inside[] = {NUMBER(AT(0) + 8)},
                         memory[] = {MEMORY(AT(0))};
    const struct object handle = OBJECT(number, as_number), wrong = OBJECT(number, inside),
                        array = OBJECT(thing, memory);
    const struct vt_edge names[] = {NAMED("p", &handle), NAMED("q", &wrong)},
                         both[] = {NAMED("p", &handle), NAMED("a", &array)};
    const struct root alone = MODULE(VT_LEVEL_USER, "main", names),
                      with = MODULE(VT_LEVEL_USER, "main", both);
    char text_[200];
    roots = &alone;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->holders, 1);
    assert_string_equal(text_, "main.p");
    end();
    walk(1, UINT64_MAX, VT_KIND_BLOCK);
    assert_null(owned(0, 0, text_));
    end();
    roots = &with;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.a");
    end();
}

static void libraries_are_walked_for_what_is_missing(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0))}, missing[] = {MEMORY(AT(1))};
    const struct object held = OBJECT(thing, memory), other = OBJECT(thing, missing);
    const struct vt_edge names[] = {NAMED("a", &held)},
                         theirs[] = {NAMED("b", &held), NAMED("c", &other)};
    const struct root both[] = {MODULE(VT_LEVEL_USER, "main", names),
                                MODULE(VT_LEVEL_LIBRARY, "lib", theirs)};
    char text_[200];
    roots = both;
    root_count = 2;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->holders, 1);
    end();
    walk(2, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->holders, 2);
    assert_non_null(owned(1, 0, text_));
    assert_string_equal(text_, "lib.c");
    end();
}

static void who_holds_a_wrapper_holds_what_is_in_it(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0))};
    const struct object pointer = OBJECT(thing, memory);
    const struct vt_edge of_data[] = {ATTR("pointer", &pointer)};
    const struct object data = OBJECT(thing, of_data);
    const struct vt_edge of_array[] = {ATTR("data", &data)};
    const struct object array = OBJECT(thing, of_array);
    const struct vt_edge items[] = {ITEM(0, &array), ITEM(1, &array)};
    const struct object both = OBJECT(list, items);
    const struct vt_edge names[] = {NAMED("a", &array), NAMED("l", &both), NAMED("b", &array)};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->holders, 4);
    assert_string_equal(text_, "main.a.data.pointer");
    assert_non_null(owned(0, 1, text_));
    assert_string_equal(text_, "main.b");
    assert_non_null(owned(0, 2, text_));
    assert_string_equal(text_, "main.l[*]");
    assert_null(owned(0, 3, text_));
    end();
}

static void a_cycle_is_no_other_holder(void **state) {
    (void)state;
    struct object a, b;
    const struct vt_edge of_a[] = {ATTR("child", &b)},
                         of_b[] = {ATTR("parent", &a), MEMORY(AT(0)), ATTR("self", &b)};
    a = OBJECT(thing, of_a);
    b = OBJECT(thing, of_b);
    const struct object word = {.type = &text};
    const struct vt_edge names[] = {NAMED("a", &a), NAMED("t", &word), NAMED("none", NULL),
                                    NAMED("odd", (char *)&a + 1), NAMED("wild", 0x1234560)};
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_int_equal(owned(0, 0, text_)->holders, 1);
    assert_string_equal(text_, "main.a.child");
    assert_null(owned(0, 1, text_));
    assert_int_equal(w->answer->objects, 1 + 3); /* a, b, the allocation */
    end();
}

static void objects_at_one_place_are_told_apart(void **state) {
    (void)state;
    const struct vt_edge memory[] = {MEMORY(AT(0))};
    const struct object o = OBJECT(thing, memory);
    const struct vt_edge names[] = {
        NAMED("o", &o),
        {.kind = VT_STEP_NAME,
         .name = TEXT("c"),
         .as = VT_AS_CLASS,
         .to = (uintptr_t)&o,
         .class_ = 1},
        {.kind = VT_STEP_NAME,
         .name = TEXT("d"),
         .as = VT_AS_CLASS,
         .to = (uintptr_t)&o,
         .class_ = 2},
        {.kind = VT_STEP_NAME,
         .name = TEXT("e"),
         .as = VT_AS_CLASS,
         .to = (uintptr_t)&o + 8,
         .class_ = 2},
    };
    const struct root module = MODULE(VT_LEVEL_USER, "main", names);
    char text_[200];
    roots = &module;
    root_count = 1;
    walk(3, UINT64_MAX, VT_KIND_DEVICE);
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.o");
    assert_non_null(owned(1, 0, text_));
    assert_string_equal(text_, "main.c");
    assert_int_equal(owned(2, 0, text_)->holders, 2);
    assert_string_equal(text_, "main.d");
    assert_int_equal(w->answer->objects, 1 + 4 + 3);
    end();
}

static void faulted(int signal, siginfo_t *info, void *context) {
    (void)info;
    if (!vt_owners_faulted(context))
        _exit(128 + signal);
}

static void a_wrong_pointer_is_no_fault(void **state) {
    (void)state;
    char path_[] = "/tmp/owners_walk_test.XXXXXX", bytes[64];
    int fd = mkstemp(path_);
    assert_true(fd >= 0);
    unlink(path_);
    uint8_t *file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0); /* beyond its end */
    uint8_t *none =
        mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    none[0] = 7;
    const struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    w = calloc(1, sizeof *w);
    w->copy = true;
    assert_true(vt_owners_read_open(w));
    assert_false(vt_owners_read(w, bytes, (uintptr_t)file, 8));
    assert_true(vt_owners_read(w, bytes, (uintptr_t)none, 8));
    assert_int_equal(bytes[0], 7);
    mprotect(none + 4096, 4096, PROT_NONE); /* the ranges are old now */
    assert_false(vt_owners_read(w, bytes, (uintptr_t)none + 4096 - 8, 64));
    assert_true(vt_owners_read(w, bytes, (uintptr_t)none + 4096 - 8, 8));
    assert_false(vt_owners_read(w, bytes, 8, 8));
    assert_false(vt_owners_read(w, bytes, UINTPTR_MAX - 4, 8));
    assert_int_equal(vt_owners_word(w, (uintptr_t)none + 4096), 0);
    vt_owners_unmap(w);
    w->copy = false;
    assert_true(vt_owners_read_open(w));
    assert_false(vt_owners_read(w, bytes, (uintptr_t)none + 4096, 8));
    assert_false(vt_owners_read(w, bytes, (uintptr_t)none + 4096 - 8, 64));
    assert_false(vt_owners_read(w, bytes, 8, 8));
    assert_false(vt_owners_read(w, bytes, UINTPTR_MAX - 4, 8));
    assert_true(vt_owners_read(w, bytes, (uintptr_t)none, 8));
    assert_int_equal(bytes[0], 7);
    vt_owners_unmap(w);
    free(w);
    munmap(none, 3 * 4096);
    munmap(file, 4096);
    close(fd);
}

/* Keys of dicts, optimizers and libraries' objects are deferred: each bound leaves fewer names, but no different
 * ones. */
static void a_walk_that_stops_has_no_other_names(void **state) {
    (void)state;
    enum { MEMORIES = 4, MOST = 1000 };
    struct vt_edge memory[MEMORIES];
    struct object held[MEMORIES];
    for (uint32_t i = 0; i < MEMORIES; i++) {
        memory[i] = (struct vt_edge)MEMORY(AT(i));
        held[i] = (struct object){.type = &thing, .edges = &memory[i], .count = 1};
    }
    const struct vt_edge of_layer[] = {ATTR("weight", &held[0]), ATTR("x", &held[1])};
    const struct object layer = OBJECT(thing, of_layer);
    const struct vt_edge of_state[] = {{.kind = VT_STEP_ITEM, .to = (uintptr_t)&layer},
                                       KEY("'exp_avg'", &held[2])},
                         of_model[] = {ATTR("layer", &layer)};
    const struct object state_ = OBJECT(dict, of_state);
    const struct vt_edge of_adam[] = {ATTR("state", &state_), ATTR("first", &held[0])};
    const struct object adam = OBJECT(optimizer, of_adam), model = OBJECT(thing, of_model);
    const struct vt_edge mine[] = {NAMED("opt", &adam), NAMED("model", &model)},
                         theirs[] = {NAMED("registry", &held[2]), NAMED("cache", &held[3])};
    const struct root both[] = {MODULE(VT_LEVEL_LIBRARY, "lib", theirs),
                                MODULE(VT_LEVEL_USER, "main", mine)};
    char all[MEMORIES][200], text_[200];
    roots = both;
    root_count = 2;
    walk(MEMORIES, UINT64_MAX, VT_KIND_BLOCK);
    for (uint32_t i = 0; i < MEMORIES; i++)
        assert_non_null(owned(i, 0, all[i]));
    end();
    assert_string_equal(all[2], "main.opt.state['exp_avg']");
    for (uint64_t work = 0, found = 0; found < MEMORIES; work++, end()) {
        assert_true(work < MOST);
        walk(MEMORIES, work, VT_KIND_BLOCK);
        found = 0;
        for (uint32_t i = 0; i < MEMORIES; i++)
            if (owned(i, 0, text_)) {
                assert_string_equal(text_, all[i]);
                found++;
            }
    }
}

/* The steps take more than the objects; all that the walk may use has room for both. */
static void objects_may_all_have_names(void **state) {
    (void)state;
    enum { NAMES = 250000, NAME = 8 };
    struct object *objects = calloc(NAMES, sizeof *objects);
    struct vt_edge *named = calloc(NAMES, sizeof *named), memory = MEMORY(AT(0));
    char(*names)[NAME] = calloc(NAMES, sizeof *names), text_[200];
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(names[i], NAME, "n%06u", i);
        objects[i] = (struct object){.type = &thing, .edges = &memory, .count = i == NAMES - 1};
        named[i] = (struct vt_edge){
            .kind = VT_STEP_ATTRIBUTE, .name = {names[i], NAME - 1}, .to = (uintptr_t)&objects[i]};
    }
    const struct root module = {
        {.level = VT_LEVEL_USER, .kind = VT_STEP_MODULE, .name = TEXT("main")}, named, NAMES};
    roots = &module;
    root_count = 1;
    walk(1, UINT64_MAX, VT_KIND_DEVICE);
    assert_false(w->stopped);
    assert_non_null(owned(0, 0, text_));
    assert_string_equal(text_, "main.n249999");
    assert_true(w->piled <= w->most_bytes);
    end();
    free(objects);
    free(named);
    free(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_users_name_wins),
        cmocka_unit_test(a_list_is_one_step),
        cmocka_unit_test(keys_are_names_up_to_64),
        cmocka_unit_test(a_linked_list_is_few_steps),
        cmocka_unit_test(graphs_are_counted),
        cmocka_unit_test(a_role_reaches_what_was_read_before),
        cmocka_unit_test(an_optimizer_names_no_parameters),
        cmocka_unit_test(a_number_owns_what_nothing_else_does),
        cmocka_unit_test(libraries_are_walked_for_what_is_missing),
        cmocka_unit_test(who_holds_a_wrapper_holds_what_is_in_it),
        cmocka_unit_test(a_cycle_is_no_other_holder),
        cmocka_unit_test(objects_at_one_place_are_told_apart),
        cmocka_unit_test(a_wrong_pointer_is_no_fault),
        cmocka_unit_test(a_walk_that_stops_has_no_other_names),
        cmocka_unit_test(objects_may_all_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
