/* SPDX-License-Identifier: MIT */
/*
 * Recycled chunks, as a model: a chunk, two places for free ones, two threads, a compactor that may die at each step,
 * and a reader. All orders of their steps are tried. The steps are those of include/vramtrace/log_chunk.h; if one is
 * done in another way, the model finds the resulting error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 2, PLACES = 2, WORDS = 2 };

/* What may be done in another way. */
enum way {
    AS_IT_IS,
    CLAIM_BY_STORE,     /* a thread looks at the generation, then stores the next one */
    CLEAR_THEN_CLAIM,   /* a thread takes the word out first, and never looks at the generation */
    FINISHED_IS_ONE,    /* and the thread that takes the chunk resets it */
    GENERATION_FIRST,   /* a compactor looks at the generation before it looks for zeroes */
    NO_LOOK_FOR_ZEROES, /* it only looks at the generation */
    FREE_THEN_ZEROES,
    ZEROES_THEN_SUMMARY,
    GIVEN_ONCE,        /* what an earlier compactor may have given is not given again */
    SUMMARY_SEEN_ONCE, /* a reader does not look at header.summary again */
    WAYS
};

/* Generations are counted from 1 where 0 means that there is none. */
struct state {
    uint8_t generation, finished, word[WORDS]; /* the chunk; a word is its generation + 1 */
    uint8_t place[PLACES];                     /* generation + 1 */
    uint8_t file,
        covered;    /* LOG.summary: its generation; how many generations of the chunk it has */
    uint8_t header; /* .summary */
    struct {
        uint8_t at, place, word, takes;
    } thread[THREADS];
    struct {
        uint8_t at, covered, generation, zero, deaths;
    } compactor;
    struct {
        uint8_t at, file, covered, header, generation, word[WORDS], least;
    } reader;
    uint8_t written; /* records in all */
};

static enum way way;
static const char *fault;

static void expect(bool is_so, const char *what) {
    if (!is_so)
        fault = what;
}

static bool is_finished(const struct state *s) {
    return way == FINISHED_IS_ONE ? s->finished : s->finished == s->generation + 1;
}

static void step_thread(struct state *s, unsigned number) {
    enum { LOOKS, CLAIMS, STORES, CLEARS, MISSES, RESETS, WRITES, FINISHES = WRITES + WORDS, DONE };
    uint8_t *at = &s->thread[number].at, *place = &s->thread[number].place,
            *word = &s->thread[number].word;
    switch (*at) {
    case LOOKS:
        *word = s->place[*place];
        if (!*word)
            *place = (uint8_t)((*place + 1) % PLACES);
        else
            *at = way == CLEAR_THEN_CLAIM ? CLEARS : CLAIMS;
        break;
    case CLAIMS:
        *at = s->generation + 1 != *word ? MISSES : way == CLAIM_BY_STORE ? STORES : CLEARS;
        if (*at != CLEARS)
            break;
        s->generation++;
        break;
    case STORES:
        s->generation = *word;
        *at = CLEARS;
        break;
    case CLEARS:
    case MISSES:
        if (s->place[*place] == *word)
            s->place[*place] = 0;
        if (*at == CLEARS && way == CLEAR_THEN_CLAIM)
            s->generation = *word;
        if (*at == MISSES)
            *word = 0;
        *at = *word ? RESETS : LOOKS;
        *place = 0;
        break;
    case RESETS:
        if (way == FINISHED_IS_ONE)
            s->finished = 0;
        *at = WRITES;
        break;
    case WRITES:
    case WRITES + 1:
        expect(s->generation == *word, "a thread writes to a chunk that another one has");
        for (unsigned i = (unsigned)*at - WRITES; i < WORDS; i++)
            expect(!s->word[i], "a thread's chunk was not empty");
        expect(!is_finished(s), "a chunk looks full while it is written to");
        s->word[(*at)++ - WRITES] = (uint8_t)(*word + 1);
        s->written++;
        break;
    case FINISHES:
        s->finished = way == FINISHED_IS_ONE ? 1 : (uint8_t)(*word + 1);
        *word = 0;
        *at = --s->thread[number].takes ? LOOKS : DONE;
        break;
    default:
        break;
    }
}

static void zero(struct state *s, unsigned i) {
    expect(s->word[i] <= s->covered, "a record is gone that is in no summary");
    s->word[i] = 0;
}

enum {
    BEGINS,
    SEES,
    SEES_REST,
    SEES_GENERATION,
    MENDS,
    MENDS_REST,
    GIVES,
    GIVES_OR,
    IDLE,
    READS,
    SAVES,
    NAMES,
    ZEROES,
    ZEROES_REST
};

static void step_compactor(struct state *s) {
    uint8_t *at = &s->compactor.at;
    switch (*at) {
    case BEGINS: /* another one may have died anywhere */
        s->compactor.covered = s->covered;
        s->header = s->file;
        *at = !s->covered || way == GIVEN_ONCE ? IDLE
              : way == GENERATION_FIRST        ? SEES_GENERATION
                                               : SEES;
        if (*at == SEES_GENERATION)
            s->compactor.zero = 2;
        break;
    case SEES:
        s->compactor.zero = !s->word[0];
        *at = SEES_REST;
        break;
    case SEES_REST:
        s->compactor.zero &= !s->word[1];
        *at = way == GENERATION_FIRST ? (s->compactor.zero ? GIVES : MENDS) : SEES_GENERATION;
        break;
    case SEES_GENERATION:
        *at = s->generation + 1 != s->compactor.covered        ? IDLE
              : way == GENERATION_FIRST                        ? SEES
              : s->compactor.zero && way != NO_LOOK_FOR_ZEROES ? GIVES
                                                               : MENDS;
        break;
    case MENDS:
    case ZEROES:
        zero(s, 0);
        ++*at;
        break;
    case MENDS_REST:
    case ZEROES_REST:
        zero(s, 1);
        *at = way == ZEROES_THEN_SUMMARY && *at == ZEROES_REST ? SAVES
              : way == FREE_THEN_ZEROES && *at == ZEROES_REST  ? IDLE
                                                               : GIVES;
        break;
    case GIVES:
    case GIVES_OR:
        if (s->place[*at - GIVES]) {
            *at = *at == GIVES ? GIVES_OR : GIVES;
            break;
        }
        s->place[*at - GIVES] = s->compactor.covered;
        *at = way == FREE_THEN_ZEROES && s->word[0] ? ZEROES : IDLE;
        break;
    case IDLE:
        s->compactor.generation = s->compactor.zero = 0;
        if (!is_finished(s) || s->generation < s->compactor.covered)
            break;
        s->compactor.generation = s->generation;
        *at = READS;
        break;
    case READS:
        for (unsigned i = 0; i < WORDS; i++)
            expect(s->word[i] == s->compactor.generation + 1,
                   "what a compactor reads is not what was written");
        expect(s->compactor.generation == s->compactor.covered, "a compactor missed a generation");
        *at = way == ZEROES_THEN_SUMMARY ? ZEROES : SAVES;
        break;
    case SAVES:
        s->file++;
        s->covered = s->compactor.covered = (uint8_t)(s->compactor.generation + 1);
        *at = NAMES;
        break;
    case NAMES:
        s->header = s->file;
        *at = way == ZEROES_THEN_SUMMARY || way == FREE_THEN_ZEROES ? GIVES : ZEROES;
        break;
    default:
        break;
    }
}

static void kill_compactor(struct state *s) {
    uint8_t deaths = s->compactor.deaths;
    if (!deaths || s->compactor.at == BEGINS)
        return;
    memset(&s->compactor, 0, sizeof s->compactor);
    s->compactor.deaths = (uint8_t)(deaths - 1);
}

static void step_reader(struct state *s) {
    enum { OPENS, LOADS, SEES_BEFORE, COPIES, ASKS = COPIES + WORDS };
    uint8_t *at = &s->reader.at;
    switch (*at) {
    case OPENS:
        s->reader.header = s->header;
        s->reader.least = s->written;
        *at = LOADS;
        break;
    case LOADS:
        s->reader.file = s->file;
        s->reader.covered = s->covered;
        *at = s->reader.file == s->reader.header || s->reader.file == s->reader.header + 1
                  ? SEES_BEFORE
                  : OPENS;
        break;
    case SEES_BEFORE:
        s->reader.generation = s->generation;
        *at = COPIES;
        break;
    case COPIES:
    case COPIES + 1:
        s->reader.word[*at - COPIES] = s->word[*at - COPIES];
        ++*at;
        break;
    case ASKS:
        *at = OPENS;
        if (s->header != s->reader.header && way != SUMMARY_SEEN_ONCE)
            break;
        unsigned known = WORDS * s->reader.covered, end = 0;
        if (s->reader.generation >= s->reader.covered)
            for (; end < WORDS && s->reader.word[end]; end++)
                expect(s->reader.word[end] == s->reader.generation + 1,
                       "a reader takes records of another generation");
        expect(known + end >= s->reader.least, "a reader misses records");
        expect(known + end <= s->written, "a reader has records twice");
        break;
    default:
        break;
    }
    if (*at == OPENS)
        memset(&s->reader, 0, sizeof s->reader);
}

/* Whether nothing will happen any more but that threads look for a chunk. */
static bool is_lost(const struct state *s) {
    bool wanted = false, free = false;
    for (unsigned i = 0; i < THREADS; i++) {
        if (s->thread[i].takes && s->thread[i].word)
            return false;
        wanted |= s->thread[i].takes;
    }
    for (unsigned i = 0; i < PLACES; i++)
        free |= s->place[i] == s->generation + 1;
    return wanted && !free && s->compactor.at == IDLE &&
           !(is_finished(s) && s->generation >= s->compactor.covered);
}

/* --- all orders --- */

static struct state *seen;
static size_t seen_count, seen_room;

static size_t place_of(const struct state *s) {
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < sizeof *s; i++)
        hash = (hash ^ ((const uint8_t *)s)[i]) * 1099511628211ull;
    size_t at = (size_t)(hash ^ hash >> 29) & (seen_room - 1);
    while (seen[at].generation != UINT8_MAX && memcmp(&seen[at], s, sizeof *s) != 0)
        at = (at + 1) & (seen_room - 1);
    return at;
}

static bool is_new(const struct state *s) {
    size_t at = place_of(s);
    if (seen[at].generation != UINT8_MAX)
        return false;
    seen[at] = *s;
    assert_true(++seen_count < seen_room / 4 * 3);
    return true;
}

/* `takes`: how often each thread needs a chunk; `deaths`: how many compactors die. */
static const char *explore(enum way tried, unsigned takes, unsigned deaths, bool reads,
                           size_t *states) {
    static struct state queue_first = {.finished = 1, .word = {1, 1}, .written = 2};
    struct state *stack = NULL, first = queue_first;
    size_t count = 0, room = 0;
    way = tried;
    fault = NULL;
    seen_count = 0;
    seen_room = 1u << 20;
    seen = malloc(seen_room * sizeof *seen);
    assert_non_null(seen);
    memset(seen, 0xff, seen_room * sizeof *seen);
    first.compactor.deaths = (uint8_t)deaths;
    for (unsigned i = 0; i < THREADS; i++)
        first.thread[i].takes = (uint8_t)takes;
    is_new(&first);
    for (bool more = true; more && !fault;) {
        struct state s = count ? stack[--count] : first;
        for (unsigned who = 0; who < THREADS + 3; who++) {
            struct state next = s;
            if (who < THREADS)
                step_thread(&next, who);
            else if (who == THREADS)
                step_compactor(&next);
            else if (who == THREADS + 1)
                kill_compactor(&next);
            else if (reads)
                step_reader(&next);
            expect(!is_lost(&next), "a chunk is lost");
            if (!is_new(&next))
                continue;
            if (count == room) {
                room = room ? 2 * room : 1024;
                stack = realloc(stack, room * sizeof *stack);
                assert_non_null(stack);
            }
            stack[count++] = next;
        }
        more = count;
    }
    free(stack);
    free(seen);
    *states = seen_count;
    return fault;
}

static const char *explore_both(enum way tried) {
    size_t states, with_reader = 0;
    const char *found = explore(tried, 2, 2, false, &states);
    if (!found)
        found = explore(tried, 1, 1, true, &with_reader);
    print_message("%zu states, %zu with a reader: %s\n", states, with_reader,
                  found ? found : "no fault");
    return found;
}

static void all_orders(void **state) {
    (void)state;
    assert_null(explore_both(AS_IT_IS));
}

static void other_ways(void **state) {
    (void)state;
    for (enum way other = AS_IT_IS + 1; other < WAYS; other++)
        assert_non_null(explore_both(other));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_orders), cmocka_unit_test(other_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
