/* SPDX-License-Identifier: MIT */
/*
 * Recorded answers (see answers.h) in sequence, each as the question's hash, the length, the answer.
 */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

struct vt_answers {
    struct vt_string bytes;
    struct vt_map at; /* question -> offset in `bytes` of its answer's head */
    bool replays;
};

/* Before each answer. */
struct head {
    uint64_t question, length;
};

struct vt_answers *vt_answers_open(void) {
    return vt_alloc(1, sizeof(struct vt_answers));
}

void vt_answers_close(struct vt_answers *a) {
    if (!a)
        return;
    vt_string_free(&a->bytes);
    vt_map_free(&a->at);
    free(a);
}

bool vt_answers_replays(const struct vt_answers *a) {
    return a && a->replays;
}

const struct vt_string *vt_answers_bytes(const struct vt_answers *a) {
    return &a->bytes;
}

struct vt_answers *vt_answers_replay(struct vt_string *bytes) {
    struct vt_answers *a = vt_answers_open();
    struct head head;
    size_t at = 0;
    a->bytes = *bytes;
    a->replays = true;
    *bytes = (struct vt_string){0};
    while (a->bytes.length - at >= sizeof head && at < VT_MAP_NONE) {
        memcpy(&head, a->bytes.text + at, sizeof head);
        if (head.length > a->bytes.length - at - sizeof head)
            break;
        vt_map_add(&a->at, head.question, (uint32_t)at);
        at += sizeof head + head.length;
    }
    if (at == a->bytes.length)
        return a;
    vt_answers_close(a);
    return NULL;
}

void vt_reply_number(struct vt_reply *reply, uint64_t *number) {
    if (!reply->at) {
        vt_string_add_bytes(&reply->written, (const char *)number, sizeof *number);
        return;
    }
    reply->bad |= reply->left < sizeof *number;
    *number = 0;
    if (reply->bad)
        return;
    memcpy(number, reply->at, sizeof *number);
    reply->at += sizeof *number;
    reply->left -= sizeof *number;
}

void vt_reply_text(struct vt_reply *reply, const char **text) {
    uint64_t length =
        !reply->at && *text ? strlen(*text) + 1 : 0; /* NUL included; 0: the text is NULL */
    vt_reply_number(reply, &length);
    if (!reply->at) {
        vt_string_add_bytes(&reply->written, length ? *text : "", (size_t)length);
        return;
    }
    reply->bad |= length > reply->left || (length && reply->at[length - 1]);
    *text = reply->bad || !length ? NULL : reply->at;
    reply->at += reply->bad ? 0 : length;
    reply->left -= reply->bad ? 0 : (size_t)length;
}

void vt_answers_keep(struct vt_answers *a, uint64_t question, vt_reply_fields *fields, void *what) {
    struct vt_reply reply = {.bad = false};
    size_t at = a ? a->bytes.length : 0;
    if (!a || a->replays || at >= VT_MAP_NONE || vt_map_add(&a->at, question, (uint32_t)at) != at)
        return;
    fields(&reply, what);
    struct head head = {question, reply.written.length};
    vt_string_add_bytes(&a->bytes, (const char *)&head, sizeof head);
    vt_string_add_bytes(&a->bytes, reply.written.text, reply.written.length);
    vt_string_free(&reply.written);
}

bool vt_answers_find(const struct vt_answers *a, uint64_t question, vt_reply_fields *fields,
                     void *what) {
    uint32_t at = vt_map_get(&a->at, question);
    struct head head;
    if (at == VT_MAP_NONE)
        return false;
    memcpy(&head, a->bytes.text + at, sizeof head);
    struct vt_reply reply = {.at = a->bytes.text + at + sizeof head, .left = (size_t)head.length};
    fields(&reply, what);
    return !reply.bad;
}
