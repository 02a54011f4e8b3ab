/* SPDX-License-Identifier: MIT */
/*
 * Prints the tables of keys as JSON, for tools/make-schema: {table: [[key, kind, meaning, of, keys], ..]}. `of` is the
 * type of the object with the key's own keys: "object", "null" (an object or null), "list"; else null.
 */
#include "report/keys.h"

extern const struct vt_key vt_gate_site_keys[], vt_diff_row_keys[], vt_diff_total_keys[],
    vt_watch_device_keys[], vt_watch_line_keys[], vt_watch_process_keys[];

/* A key's type; for an enum: its words. */
static void print_kind(struct vt_json *j, const struct vt_key *key) {
    VT_SCOPED_STRING words = {0};
    for (unsigned i = 0; !key->kind && i < key->word_count; i++) {
        vt_string_add(&words, i ? ", " : "{\"enum\": [");
        vt_string_format(&words, key->words[i] ? "\"%s\"" : "null", key->words[i]);
    }
    if (words.length)
        vt_string_add(&words, "]}");
    vt_json_string(j, NULL, key->kind ? key->kind : words.text);
}

static void print_keys(struct vt_json *j, const char *name, const struct vt_key *keys,
                       bool inside) {
    if (!inside)
        vt_json_open(j, name, '[');
    for (; keys->key; keys++) {
        if (keys->type == VT_KEY_INLINE || keys->type == VT_KEY_THROUGH) {
            print_keys(j, NULL, keys->keys, true);
            continue;
        }
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, keys->key);
        print_kind(j, keys);
        vt_json_string(j, NULL, keys->meaning);
        vt_json_string(j, NULL,
                       !keys->keys                                                   ? NULL
                       : keys->type == VT_KEY_OBJECT                                 ? "object"
                       : keys->type == VT_KEY_LIST || keys->type == VT_KEY_MADE_LIST ? "list"
                                                                                     : "null");
        if (keys->keys)
            print_keys(j, NULL, keys->keys, false);
        vt_json_close(j, ']');
    }
    if (!inside)
        vt_json_close(j, ']');
}

int main(void) {
    struct vt_json j = {.out = stdout, .first = true};
    vt_json_open(&j, NULL, '{');
    print_keys(&j, "process", vt_process_keys, false);
    vt_json_open(&j, "device of watch", '[');
    print_keys(&j, NULL, vt_device_keys, true);
    print_keys(&j, NULL, vt_watch_device_keys, true);
    vt_json_close(&j, ']');
    print_keys(&j, "process of watch", vt_watch_process_keys, false);
    print_keys(&j, "line of watch", vt_watch_line_keys, false);
    print_keys(&j, "apart", vt_apart_keys, false);
    print_keys(&j, "leak", vt_leak_keys, false);
    print_keys(&j, "oom of watch", vt_oom_keys, false);
    print_keys(&j, "phase of watch", vt_phase_keys, false);
    print_keys(&j, "site of check", vt_gate_site_keys, false);
    print_keys(&j, "row of diff", vt_diff_row_keys, false);
    print_keys(&j, "total of diff", vt_diff_total_keys, false);
    vt_json_close(&j, '}');
    putchar('\n');
    return 0;
}
