/* regex_dfa.c - builds the states of a pattern's automaton when a text first reaches them.
 *
 * A state is the list of instructions, in order of preference, at which threads arrive after a rune, and what an
 * assertion has to know of that rune.  Splits and assertions are followed only when the next rune is known, because an
 * assertion depends on it.  So a step from a state also tells whether a match ends before the next rune.
 *
 * Runes that no set and no assertion of the pattern tells apart are one class.  A step is a lookup by state and class.
 *
 * A search tries one beginning after the other, and nearly all of them fail at their first rune.  Texts in which many
 * fail late, such as "aaaa" for the pattern a*b, would take quadratic time, so the search gives up on them. */
#include "codec/regex_dfa.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "codec/regex_program.h"
#include <stdlib.h>
#include <string.h>

enum { CODE_MAX = 1000, CLASSES_MAX = 128, STATES_MAX = 400, LISTS_MAX = 40000, SLOTS = 1024 };
enum { DEAD, FIRST_STATE };          /* states; nothing leads out of DEAD */
enum { UNKNOWN = -1, NO_ROOM = -2 }; /* steps */

/* The kind of the rune before, on which assertions depend. */
typedef enum before { B_TEXT, B_LINE, B_WORD, B_OTHER, N_BEFORE } before;

typedef struct state {
  int first, n; /* in `lists` */
  before before;
  bool full; /* for matches of the whole text */
} state;

struct regex_dfa {
  const regex *r;
  bool asserts;
  int classes;              /* the last two: bytes that are not UTF-8, and the end of the text */
  int low[CLASSES_MAX + 1]; /* the least rune of each class, ascending */
  unsigned char ascii[128];
  state *states;
  int *lists;
  int *step; /* at [state * classes + class]: 2 * next state * classes + "a match ends before the rune" */
  int64_t states_capacity, lists_capacity, step_capacity;
  int n_states, n_lists;
  int slots[SLOTS];                    /* a hash table of states; DEAD is an empty slot */
  int start[2][N_BEFORE];              /* by "full"; DEAD if not made yet */
  int *mark, *stack, *found, mark_now; /* of one step, n each; stack 2 n + 1 */
};

/* ---- classes of runes ---- */

static int compare_runes(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static bool add_low(regex_dfa *d, int rune) {
  for (int i = 0; i < d->classes; i++)
    if (d->low[i] == rune) return true;
  if (d->classes == CLASSES_MAX - 2) return false;
  d->low[d->classes++] = rune;
  return true;
}

static bool add_range(regex_dfa *d, int low, int high) { return add_low(d, low) && add_low(d, high + 1); }

static int class_of(const regex_dfa *d, int rune) {
  WEFT_ASSERT(d->classes > 2 && d->low[0] == 0);
  int low = 0, high = d->classes - 2;
  if (rune < 0) return high;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (d->low[middle] <= rune)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Returns false if there are too many. */
static bool find_classes(regex_dfa *d) {
  bool good = add_low(d, 0);
  for (int i = 0; i < d->r->n && good; i++) {
    const inst *in = &d->r->code[i];
    d->asserts |= in->kind == I_ASSERT;
    for (int j = 0; in->kind == I_SET && j < in->set->n && good; j++)
      good = add_range(d, in->set->range[j].low, in->set->range[j].high);
  }
  if (good && d->asserts)
    good = add_range(d, '\n', '\n') && add_range(d, '0', '9') && add_range(d, 'A', 'Z') && add_range(d, '_', '_') &&
           add_range(d, 'a', 'z');
  if (!good) return false;
  qsort(d->low, (size_t)d->classes, sizeof *d->low, compare_runes);
  d->classes += 2;
  for (int c = 0; c < 128; c++) d->ascii[c] = (unsigned char)class_of(d, c);
  return true;
}

/* ---- states ---- */

static unsigned hash_state(const int *list, int n, before b, bool full) {
  unsigned h = 2166136261u ^ (unsigned)b << 1 ^ full;
  for (int i = 0; i < n; i++) h = (h ^ (unsigned)list[i]) * 16777619u;
  return h ^ h >> 15;
}

/* Returns the state with that list; NO_ROOM if there are too many or memory is short. */
static int state_of(regex_dfa *d, const int *list, int n, before b, bool full) {
  WEFT_ASSERT(n >= 0 && d->n_states <= STATES_MAX && d->n_lists <= LISTS_MAX);
  unsigned at = hash_state(list, n, b, full) % SLOTS;
  if (n == 0) return DEAD;
  for (; d->slots[at] != DEAD; at = (at + 1) % SLOTS) {
    const state *s = &d->states[d->slots[at]];
    if (s->n == n && s->before == b && s->full == full && !memcmp(d->lists + s->first, list, (size_t)n * sizeof *list))
      return d->slots[at];
  }
  if (d->n_states == STATES_MAX || d->n_lists + n > LISTS_MAX) return NO_ROOM;
  if (WEFT_ARRAY_RESERVE(d->states, d->states_capacity, d->n_states + 1) ||
      WEFT_ARRAY_RESERVE(d->lists, d->lists_capacity, d->n_lists + n) ||
      WEFT_ARRAY_RESERVE(d->step, d->step_capacity, (int64_t)(d->n_states + 1) * d->classes))
    return NO_ROOM;
  memcpy(d->lists + d->n_lists, list, (size_t)n * sizeof *list);
  d->states[d->n_states] = (state){d->n_lists, n, b, full};
  d->n_lists += n;
  for (int c = 0; c < d->classes; c++) d->step[d->n_states * d->classes + c] = UNKNOWN;
  return d->slots[at] = d->n_states++;
}

regex_dfa *weft__regex_dfa_create(const regex *r) {
  const size_t n = (size_t)r->n;
  regex_dfa *d = r->n <= CODE_MAX ? weft__alloc_zero(1, sizeof *d) : NULL;
  if (!d) return NULL;
  d->r = r;
  d->n_states = FIRST_STATE;
  d->mark = weft__alloc_zero(6 * n + 1, sizeof *d->mark);
  if (!d->mark || !find_classes(d) || WEFT_ARRAY_RESERVE_ZERO(d->states, d->states_capacity, FIRST_STATE) ||
      WEFT_ARRAY_RESERVE_ZERO(d->step, d->step_capacity, d->classes)) {
    weft__regex_dfa_destroy(d);
    return NULL;
  }
  d->found = d->mark + n;
  d->stack = d->found + 2 * n; /* a step stores its new list behind what it found */
  return d;
}

void weft__regex_dfa_destroy(regex_dfa *d) {
  if (!d) return;
  weft__free(d->states);
  weft__free(d->lists);
  weft__free(d->step);
  weft__free(d->mark);
  weft__free(d);
}

/* ---- steps ---- */

static before before_of(const regex_dfa *d, int rune) {
  if (!d->asserts) return B_OTHER;
  return rune == '\n' ? B_LINE : weft__regex_word_char(rune) ? B_WORD : B_OTHER;
}

static bool dfa_holds(int kind, before b, int rune, bool at_end) {
  const bool word = (b == B_WORD) != (!at_end && weft__regex_word_char(rune));
  switch (kind) {
  case RE_BEGIN_TEXT: return b == B_TEXT;
  case RE_END_TEXT: return at_end;
  case RE_BEGIN_LINE: return b == B_TEXT || b == B_LINE;
  case RE_END_LINE: return at_end || rune == '\n';
  case RE_WORD: return word;
  default: return !word;
  }
}

/* Adds the sets and matches that instruction pc leads to before the rune, in order of preference.  Returns their
 * new number. */
static int dfa_follow(regex_dfa *d, int pc, int found, before b, int rune, bool at_end) {
  int top = 0;
  d->stack[top++] = pc;
  while (top > 0) {
    pc = d->stack[--top];
    if (d->mark[pc] == d->mark_now) continue;
    d->mark[pc] = d->mark_now;
    const inst *i = &d->r->code[pc];
    if (i->kind == I_SPLIT) {
      if (i->y != i->x) d->stack[top++] = i->y;
      d->stack[top++] = i->x;
    } else if (i->kind == I_SAVE) {
      d->stack[top++] = i->x;
    } else if (i->kind == I_ASSERT) {
      if (dfa_holds(i->arg, b, rune, at_end)) d->stack[top++] = i->x;
    } else {
      d->found[found++] = pc;
      WEFT_ASSERT(found <= d->r->n);
    }
  }
  return found;
}

/* Computes the step from a state over a rune of class c. */
static int dfa_step(regex_dfa *d, int from, int c) {
  WEFT_ASSERT(from > DEAD && from < d->n_states && c >= 0 && c < d->classes);
  const state s = d->states[from];
  const bool at_end = c == d->classes - 1;
  const int rune = c < d->classes - 2 ? d->low[c] : -1;
  int found = 0, n = 0, *list = d->found + d->r->n;
  bool match = false;
  if (d->mark_now == INT32_MAX) return NO_ROOM;
  d->mark_now++;
  for (int i = 0; i < s.n; i++) found = dfa_follow(d, d->lists[s.first + i], found, s.before, rune, at_end);
  for (int i = 0; i < found && !match; i++) {
    const inst *in = &d->r->code[d->found[i]];
    if (in->kind == I_MATCH)
      match = !s.full || at_end; /* what is less preferred is dropped */
    else if (weft__regex_in_set(in->set, rune))
      list[n++] = in->x;
  }
  const int to = state_of(d, list, n, before_of(d, rune), s.full);
  return to == NO_ROOM ? NO_ROOM : (d->step[from * d->classes + c] = 2 * to * d->classes + match);
}

static int dfa_start(regex_dfa *d, before b, bool full) {
  if (d->start[full][b] == DEAD) d->start[full][b] = state_of(d, (int[]){0}, 1, b, full);
  const int at = d->start[full][b];
  if (at == NO_ROOM) d->start[full][b] = DEAD; /* of a start that was not made */
  return at;
}

/* Takes the steps over ASCII that are known, stay alive and end no match.  Returns where it stopped. */
static size_t dfa_run_plain(const regex_dfa *d, const char *s, size_t size, size_t at, int *row) {
  const int *table = d->step;
  int r = *row;
  for (; at < size && (unsigned char)s[at] < 128; at++) {
    const int step = table[r + d->ascii[(unsigned char)s[at]]];
    if (step <= 1 || step & 1) break;
    r = step >> 1;
  }
  *row = r;
  return at;
}

/* Runs from `begin` until no thread is left.  *last is where it stopped, *end the end of the match. */
static dfa_answer dfa_run(regex_dfa *d, const char *s, size_t size, size_t begin, int start, size_t *last,
                          size_t *end) {
  dfa_answer answer = DFA_NO_MATCH;
  int row = start * d->classes; /* of `step` */
  for (size_t i = begin;;) {
    i = dfa_run_plain(d, s, size, i, &row);
    WEFT_ASSERT(row % d->classes == 0 && row / d->classes < d->n_states);
    int length = i < size, c = d->classes - 1;
    if (i < size) {
      const unsigned char byte = (unsigned char)s[i];
      c = byte < 128 ? d->ascii[byte] : class_of(d, weft__rune(s + i, size - i, &length));
    }
    int step = d->step[row + c];
    if (step < 0 && (step = dfa_step(d, row / d->classes, c)) < 0) return DFA_GAVE_UP;
    if (step & 1) {
      answer = DFA_MATCH;
      *end = i;
    }
    row = step >> 1;
    if (row == DEAD || length == 0) {
      *last = i;
      return answer;
    }
    i += (size_t)length;
  }
}

dfa_answer weft__regex_dfa_full(regex_dfa *d, const char *s, size_t size) {
  size_t last, end = 0;
  const int start = dfa_start(d, d->asserts ? B_TEXT : B_OTHER, true);
  return start == NO_ROOM ? DFA_GAVE_UP : dfa_run(d, s, size, 0, start, &last, &end);
}

/* Returns the first position from `at` on whose byte does not lead from the start to DEAD, by a step that is known. */
static size_t skip_dead(const regex_dfa *d, const char *s, size_t size, size_t at, int start) {
  const int *step = d->step + start * d->classes;
  while (at < size && (unsigned char)s[at] < 128 && step[d->ascii[(unsigned char)s[at]]] == DEAD) at++;
  return at;
}

dfa_answer weft__regex_dfa_search(regex_dfa *d, const char *s, size_t size, size_t *begin, size_t *end) {
  const size_t from = *begin;
  for (size_t at = from, late = 0;;) {
    const before b = !d->asserts ? B_OTHER : at == 0 ? B_TEXT : before_of(d, (unsigned char)s[at - 1]);
    const int start = dfa_start(d, b, false);
    if (start != NO_ROOM && !d->asserts) at = skip_dead(d, s, size, at, start);
    *begin = at;
    size_t last = at;
    const dfa_answer answer = start == NO_ROOM ? DFA_GAVE_UP : dfa_run(d, s, size, at, start, &last, end);
    if (answer != DFA_NO_MATCH || at >= size) return answer;
    late += last - at;
    if (late > 256 + 4 * (at - from)) return DFA_GAVE_UP;
    int length = 1;
    if ((unsigned char)s[at] >= 128) weft__rune(s + at, size - at, &length);
    at += (size_t)length;
  }
}
