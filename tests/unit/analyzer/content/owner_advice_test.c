/* SPDX-License-Identifier: MIT */
/*
 * Advice that follows from the owner of a leak alone.
 */
#include "tests/unit/analyzer/analysis/owners_log.h"

#include "content/sentences.h"

/* The advice for a growing leak that is allocated in `function` and held by this owner. */
static void assert_advice(const struct vt_memory_owner *o, const char *function,
                          const char *expected) {
    struct vt_owner_group kept = {.owner = *o};
    struct vt_growth growth = {0};
    struct vt_frame frame = {.function = function, .python = true, .user_code = true};
    struct vt_stack stack = {.frames = &frame, .count = 1};
    struct vt_leak leak = {.verdict = VT_VERDICT_GROWING,
                           .kept = &kept,
                           .kept_count = 1,
                           .growth = &growth,
                           .stack = &stack};
    char *advice = vt_owners_advise(&model.processes[0], &leak);
    advice = advice ? advice : vt_owners_advise_objects(&leak);
    assert_string_equal(advice ? advice : "none", expected);
    free(advice);
}

/* The same, where all names of one dictionary are told as one. */
static void assert_advice_of_group(const char *text, const char *expected) {
    struct vt_process *p = &model.processes[0];
    struct vt_growth growth = {0};
    struct vt_leak leak = {.verdict = VT_VERDICT_GROWING, .growth = &growth};
    const struct vt_owned_list *owned = &p->sites[0].owned;
    leak.kept = vt_owner_groups(owned->owners, owned->count, false, &leak.kept_count);
    assert_int_equal(leak.kept_count, 1);
    assert_text(&leak.kept->owner, leak.kept->count, text);
    char *advice = vt_owners_advise_objects(&leak);
    assert_string_equal(advice ? advice : "none", expected);
    free(advice);
    free(leak.kept);
}

/* The owner of a block that lies in a container of __main__. */
static const struct vt_memory_owner *held(const char *variable, const char *type) {
    start();
    return owner_at(
        many(step(module(), VT_STEP_NAME, variable, type), VT_STEP_INDEX, "torch.Tensor"), 0);
}

static const struct vt_memory_owner *graph(const char *first, uint32_t starts, uint32_t row,
                                           uint32_t length) {
    start();
    uint32_t total = step(module(), VT_STEP_NAME, "total", "torch.Tensor");
    uint32_t node = graph_step(total, first, starts, row, length);
    return owner_at(step(node, VT_STEP_CLASS, NULL, "Tensor"), VT_ROLE_SAVED);
}

static void tensors(void **state) {
    (void)state;
    const struct vt_memory_owner *o = held("outputs", "list");
    assert_text(o, 0, "outputs (list) in __main__, train.py");
    assert_chain(o, "outputs[*] → Tensor");
    assert_advice(o, "train", "keep .detach().cpu() of each in `outputs`, or drop old ones");
    end();
    start(); /* also in what lies in the list */
    uint32_t list = step(module(), VT_STEP_NAME, "outputs", "list");
    uint32_t item =
        step(many(list, VT_STEP_INDEX, "dict"), VT_STEP_KEY, "'logits'", "torch.Tensor");
    assert_advice(owner_at(item, 0), "train",
                  "keep .detach().cpu() of each in `outputs`, or drop old ones");
    end();
}

/* Views of large blocks in a list, beside others that see all of theirs. `blocks` counts both. */
static const struct vt_memory_owner *views(uint32_t count, uint32_t blocks, uint32_t units) {
    start();
    uint32_t item =
        many(step(module(), VT_STEP_NAME, "rows", "list"), VT_STEP_INDEX, "torch.Tensor");
    for (uint32_t i = 1; i < blocks; i++)
        if (i < count)
            maker_owned_part(&m, 0, 1, block(1 << 20), VT_SPACE_DEVICE, item, units);
        else
            own(block(1 << 20), item, 0);
    maker_owned_part(&m, 0, 1, block(1 << 20), VT_SPACE_DEVICE, item, units);
    snapshot();
    return &finish()->snapshots[0].owners[0];
}

/* Copies are advised only where they free more than they take. */
static void views_of_much(void **state) {
    (void)state;
    const char *drop = "keep .detach().cpu() of each in `rows`, or drop old ones";
    assert_advice(views(64, 64, 1), "main",
                  "`rows` keeps 64.0 MiB for views that see 32.0 KiB: keep .clone() of each");
    end();
    assert_advice(views(64, 64, 1023), "main",
                  "`rows` keeps 64.0 MiB for views that see 32.0 MiB: keep .clone() of each");
    end();
    assert_advice(views(64, 64, 1024), "main", drop);
    end();
    assert_advice(views(32, 64, 1), "main", drop);
    end();
    assert_advice(views(33, 64, 1), "main",
                  "`rows` keeps 64.0 MiB for views that see 31.0 MiB: keep .clone() of each");
    end();
}

/* What no tracer writes: a part without an owner, of another one, of more than all. */
static void parts_of_nothing(void **state) {
    (void)state;
    start();
    uint32_t item =
        many(step(module(), VT_STEP_NAME, "rows", "list"), VT_STEP_INDEX, "torch.Tensor");
    uint64_t first = block(1 << 20), second = block(1 << 20);
    maker_owned_part(&m, 0, 1, first, VT_SPACE_DEVICE, 0, 1);
    maker_owned_part(&m, 0, 1, second, VT_SPACE_DEVICE, item, UINT32_MAX);
    own(first, item, 0);
    snapshot();
    const struct vt_memory_owner *o = &finish()->snapshots[0].owners[0];
    assert_int_equal(o->bytes, 2 << 20);
    assert_int_equal(o->unseen_bytes, 0);
    end();
}

static void objects(void **state) {
    (void)state;
    start();
    uint32_t list = step(module(), VT_STEP_NAME, "optimizers", "list");
    uint32_t item = many(list, VT_STEP_INDEX, "torch.optim.adamw.AdamW");
    assert_advice(owner_at(step(item, VT_STEP_ATTRIBUTE, "buffer", "torch.Tensor"), 0), "main",
                  "`optimizers` keeps every AdamW with its memory: drop old ones");
    end();
    start(); /* a named tuple of a model and an optimizer */
    uint32_t folds = step(module(), VT_STEP_NAME, "folds", "list");
    uint32_t fold = maker_step(
        &m, 0,
        (struct maker_step){folds, VT_STEP_INDEX, NULL, "__main__.Fold", VT_STEP_MANY, 40, 0});
    many(fold, VT_STEP_INDEX, "torch.optim.adamw.AdamW");
    uint32_t net = many(fold, VT_STEP_INDEX, "__main__.Net");
    uint32_t weight = step(net, VT_STEP_ATTRIBUTE, "weight", "torch.nn.parameter.Parameter");
    assert_advice(owner_at(weight, 0), "main",
                  "`folds` keeps every Fold with its memory: drop old ones");
    end();
}

/* An optimizer outlives parameters that the model has replaced. */
static void optimizers(void **state) {
    (void)state;
    for (unsigned of_state = 0; of_state < 2; of_state++) {
        start();
        uint32_t opt = step(module(), VT_STEP_NAME, "opt", "torch.optim.adam.Adam");
        uint32_t list = step(opt, VT_STEP_ATTRIBUTE, of_state ? "state" : "param_groups", "list");
        uint32_t item = step(many(list, VT_STEP_INDEX, "dict"), VT_STEP_KEY, "'exp_avg'", "list");
        assert_advice(owner_at(many(item, VT_STEP_INDEX, "torch.Tensor"), 0), "step",
                      of_state ? "`opt` still has the state of replaced parameters: make a new "
                                 "optimizer, or delete them from `opt.state`"
                               : "`opt` still has replaced parameters: make a new optimizer, or "
                                 "delete them from `opt.param_groups`");
        end();
    }
    start(); /* no optimizer's */
    uint32_t game = step(module(), VT_STEP_NAME, "game", "app.Game");
    uint32_t list = step(game, VT_STEP_ATTRIBUTE, "state", "list");
    assert_advice(owner_at(many(list, VT_STEP_INDEX, "torch.Tensor"), 0), "step",
                  "keep .detach().cpu() of each in `game.state`, or drop old ones");
    end();
}

static void hooks(void **state) {
    (void)state;
    start();
    uint32_t net = step(module(), VT_STEP_NAME, "net", "torch.nn.modules.linear.Linear");
    uint32_t dict = step(net, VT_STEP_ATTRIBUTE, "_forward_hooks", "collections.OrderedDict");
    uint32_t hook = many(dict, VT_STEP_KEY, "function");
    assert_advice(owner_at(step(hook, VT_STEP_CLOSURE, "mask", "torch.Tensor"), 0), "main",
                  "each hook registered on `net` stays: keep the handle that registering it "
                  "returns, and call handle.remove()");
    end();
}

/* The name of a container may look like the end of one: a key with a bracket. */
static void key_with_bracket(void **state) {
    (void)state;
    start();
    uint32_t dict = step(module(), VT_STEP_NAME, "outputs", "dict");
    uint32_t list = step(dict, VT_STEP_KEY, "'conv (3x3)'", "list");
    assert_advice(owner_at(many(list, VT_STEP_INDEX, "torch.Tensor"), 0), "train",
                  "keep .detach().cpu() of each in `outputs['conv (3x3)']`, or drop old ones");
    end();
}

static void names_of_a_dictionary(void **state) {
    (void)state;
    for (unsigned count = 2; count < 40; count += 19) {
        start();
        uint32_t dict = step(module(), VT_STEP_NAME, "outputs", "dict");
        char text[128];
        for (unsigned i = 0; i < 2 * count; i++) {
            char key[16];
            snprintf(key, sizeof key, "'layer%u'", i % count);
            uint32_t item = many(step(dict, VT_STEP_KEY, key, "list"), VT_STEP_INDEX, "app.Event");
            own(block(64), step(item, VT_STEP_ATTRIBUTE, "buffer", "Buffer"), 0);
        }
        snapshot();
        finish();
        snprintf(text, sizeof text, "outputs (dict of lists, %u blocks) in __main__, train.py",
                 2 * count);
        assert_advice_of_group(text, "`outputs` keeps every Event with its memory: drop old ones");
        end();
    }
}

static void graphs(void **state) {
    (void)state;
    assert_advice(graph("AddBackward0", 1, 90, 95), "train",
                  "`total` is a sum that keeps the graph of every term: add .item() of each, or "
                  ".detach() it");
    end();
    assert_advice(graph("AddBackward0", 1, 90, 95), "Trainer.validate",
                  "`total` is a sum that keeps the graph of every term: evaluate under "
                  "torch.no_grad(), or add .item() of each, or .detach() it");
    end();
    assert_advice(
        graph("TanhBackward0", 1, 1, 361), "validate",
        "`total` carries the graph of every iteration on: .detach() it before the next one");
    end();
    assert_advice(
        graph("MseLossBackward0", 1, 1, 9), "evaluate_all",
        "`total` keeps autograd graphs: evaluate under torch.no_grad(), or keep .item() of "
        "a number, .detach() of a tensor");
    end();
    assert_advice(graph("MseLossBackward0", 1, 1, 9), "revalidate",
                  "`total` keeps autograd graphs: keep .item() of a number, .detach() of a tensor");
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors),
        cmocka_unit_test(views_of_much),
        cmocka_unit_test(parts_of_nothing),
        cmocka_unit_test(objects),
        cmocka_unit_test(key_with_bracket),
        cmocka_unit_test(names_of_a_dictionary),
        cmocka_unit_test(graphs),
        cmocka_unit_test(optimizers),
        cmocka_unit_test(hooks),
    };
    return cmocka_run_group_tests_name("owner_advice", tests, maker_make_folder,
                                       maker_remove_folder);
}
