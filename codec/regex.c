/* regex.c - compiles a pattern to instructions and runs all threads of the automaton in parallel over the text.
 *
 * At each rune, the machine holds the set of instructions where a thread may be, in order of preference, so that
 * alternatives and greediness have Perl's meaning.  Each thread has the positions of its groups. */
#include "codec/regex.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include <string.h>

typedef enum inst_kind {
  I_SET,    /* matches one rune of `set`, then goes to x */
  I_SPLIT,  /* goes to x, or else to y */
  I_SAVE,   /* stores the position in slot `arg`, then goes to x */
  I_ASSERT, /* checks the regex_kind in `arg`, then goes to x */
  I_MATCH
} inst_kind;

typedef struct inst {
  inst_kind kind;
  int x, y, arg;
  const rune_set *set;
} inst;

struct regex {
  arena arena;
  inst *code;
  int n;
  int64_t capacity;
  int groups;
  bool failed; /* out of memory while compiling */
};

/* ---- compiling: each function appends code that continues with the next instruction appended ---- */

static int regex_emit(regex *r, inst i) {
  if (WEFT_ARRAY_RESERVE(r->code, r->capacity, r->n + 1)) {
    r->failed = true;
    return 0;
  }
  r->code[r->n] = i;
  r->code[r->n].x += r->n + 1; /* x and y are relative to the next instruction */
  r->code[r->n].y += r->n + 1;
  return r->n++;
}

static void regex_compile(regex *r, const regex_node *n);

/* Emits a split whose second target is set later; the first is the next instruction. */
static int emit_split(regex *r) { return regex_emit(r, (inst){I_SPLIT, 0, 0, 0, NULL}); }

/* Sets the other target of split s; `prefer_next` says whether the next instruction is preferred. */
static void regex_join(regex *r, int s, int other, bool prefer_next) {
  if (r->failed) return;
  r->code[s].x = prefer_next ? s + 1 : other;
  r->code[s].y = prefer_next ? other : s + 1;
}

static void compile_times(regex *r, const regex_node *n) {
  for (int i = 0; i < n->min && !r->failed; i++) regex_compile(r, n->left);
  if (n->max < 0) { /* loop: split past the body, body, jump back */
    int s = emit_split(r);
    regex_compile(r, n->left);
    int back = regex_emit(r, (inst){I_SPLIT, 0, 0, 0, NULL});
    if (!r->failed) r->code[back].x = r->code[back].y = s;
    regex_join(r, s, r->n, n->greedy);
    return;
  }
  int count = n->max - n->min, *split = count > 0 ? weft__alloc((size_t)count * sizeof *split) : NULL;
  if (count > 0 && !split) r->failed = true;
  for (int i = 0; i < count && !r->failed; i++) {
    split[i] = emit_split(r);
    regex_compile(r, n->left);
  }
  for (int i = 0; i < count && !r->failed; i++) regex_join(r, split[i], r->n, n->greedy);
  weft__free(split);
}

static void compile_alt(regex *r, const regex_node *n) {
  int s = emit_split(r);
  regex_compile(r, n->left);
  int out = regex_emit(r, (inst){I_SPLIT, 0, 0, 0, NULL});
  regex_join(r, s, r->n, true);
  regex_compile(r, n->right);
  if (!r->failed) r->code[out].x = r->code[out].y = r->n;
}

static void regex_compile(regex *r, const regex_node *n) {
  for (; n->kind == RE_CAT && !r->failed; n = n->right) regex_compile(r, n->left);
  if (r->failed) return;
  switch (n->kind) {
  case RE_EMPTY:
  case RE_CAT: break;
  case RE_SET: regex_emit(r, (inst){I_SET, 0, 0, 0, &n->set}); break;
  case RE_ALT: compile_alt(r, n); break;
  case RE_TIMES: compile_times(r, n); break;
  case RE_GROUP:
    regex_emit(r, (inst){I_SAVE, 0, 0, 2 * n->min, NULL});
    regex_compile(r, n->left);
    regex_emit(r, (inst){I_SAVE, 0, 0, 2 * n->min + 1, NULL});
    break;
  default: regex_emit(r, (inst){I_ASSERT, 0, 0, (int)n->kind, NULL}); break;
  }
}

weft_err weft__regex_create(regex **out, const char *pattern, size_t size) {
  text why = {0};
  regex_node *tree = NULL;
  regex *r = weft__alloc_zero(1, sizeof *r);
  *out = r;
  if (!r) return WEFT_OOM;
  weft_err err = weft__regex_parse(&r->arena, pattern, size, &tree, &r->groups, &why);
  if (err == WEFT_INVALID_ARGUMENT)
    weft__fail(err, "Invalid pattern: %.*s, error: %s", weft__int_sat(size), pattern, weft__text_get(&why));
  weft__text_finish(&why);
  if (err == WEFT_OK) {
    regex_compile(r, tree);
    regex_emit(r, (inst){I_MATCH, 0, 0, 0, NULL});
    if (r->failed) err = WEFT_OOM;
  }
  if (err == WEFT_OK) return err;
  weft__regex_destroy(r);
  *out = NULL;
  return err;
}

void weft__regex_destroy(regex *r) {
  if (!r) return;
  weft__free(r->code);
  weft__arena_finish(&r->arena);
  weft__free(r);
}

/* ---- running ---- */

typedef struct thread_list {
  int n, *at;    /* instructions, most preferred first */
  size_t *saved; /* saved slots of each thread */
} thread_list;

typedef struct machine {
  const regex *r;
  const char *s;
  size_t size;
  int slots;
  thread_list now, next;
  int *mark;  /* per instruction: the last step it was added in */
  int *stack; /* instructions still to be followed, and slots to be restored */
  size_t *held, *best;
  int step;
  void *room; /* the allocation that holds all of the above */
} machine;

#define NOWHERE ((size_t)-1)

/* Makes one allocation for everything that a run needs. */
static weft_err machine_init(machine *m, const regex *r, const char *s, size_t size, bool groups) {
  size_t n = (size_t)r->n, slots = groups ? 2 * (size_t)(r->groups + 1) : 0;
  *m = (machine){.r = r, .s = s, .size = size, .slots = weft__int_sat(slots)};
  size_t places = 2 * n * slots + 2 * slots + 2 * n; /* saved slots of both lists, held, best, values to restore */
  void *room = weft__alloc(places * sizeof(size_t) + 8 * n * sizeof(int) + 1);
  if (!room) return WEFT_OOM;
  m->room = room;
  m->now.saved = m->room;
  m->next.saved = m->now.saved + n * slots;
  m->held = m->next.saved + n * slots;
  m->best = m->held + slots;
  m->now.at = (int *)(void *)(m->best + slots + 2 * n);
  m->next.at = m->now.at + n;
  m->mark = m->next.at + n;
  m->stack = m->mark + n;
  memset(m->mark, 0, n * sizeof(int));
  return WEFT_OK;
}

static void machine_finish(machine *m) { weft__free(m->room); }

static bool is_word(const machine *m, size_t at) {
  if (at >= m->size) return false;
  char c = m->s[at];
  return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool regex_holds(const machine *m, int kind, size_t at) {
  bool word = (at > 0 && is_word(m, at - 1)) != is_word(m, at);
  switch (kind) {
  case RE_BEGIN_TEXT: return at == 0;
  case RE_END_TEXT: return at == m->size;
  case RE_BEGIN_LINE: return at == 0 || m->s[at - 1] == '\n';
  case RE_END_LINE: return at == m->size || m->s[at] == '\n';
  case RE_WORD: return word;
  default: return !word;
  }
}

/* Adds the thread at instruction pc and all threads that it leads to without reading a rune, in order of preference.
 * A negative entry on the stack restores a slot after everything that follows its change has been added. */
static void add_thread(machine *m, thread_list *to, int pc, size_t at) {
  size_t *undo = m->best + m->slots;
  int top = 0, undos = 0;
  m->stack[top++] = pc;
  while (top > 0) {
    pc = m->stack[--top];
    if (pc < 0) {
      m->held[-pc - 1] = undo[--undos];
      continue;
    }
    if (m->mark[pc] == m->step) continue;
    m->mark[pc] = m->step;
    const inst *i = &m->r->code[pc];
    if (i->kind == I_SPLIT) {
      if (i->y != i->x) m->stack[top++] = i->y;
      m->stack[top++] = i->x;
    } else if (i->kind == I_SAVE) {
      if (m->slots) {
        undo[undos++] = m->held[i->arg];
        m->held[i->arg] = at;
        m->stack[top++] = -i->arg - 1;
      }
      m->stack[top++] = i->x;
    } else if (i->kind == I_ASSERT) {
      if (regex_holds(m, i->arg, at)) m->stack[top++] = i->x;
    } else {
      memcpy(to->saved + (size_t)to->n * (size_t)m->slots, m->held, (size_t)m->slots * sizeof *m->held);
      to->at[to->n++] = pc;
    }
  }
}

static bool in_set(const rune_set *set, int rune) {
  if (rune < 0) return false;
  for (int i = 0; i < set->n; i++)
    if (rune >= set->range[i].low && rune <= set->range[i].high) return !set->negated;
  return set->negated;
}

/* Advances every thread over the rune at `at`.  Returns true if a match was stored in best and less preferred
 * threads were dropped. */
static bool step_threads(machine *m, size_t at, int rune, int length, bool to_the_end) {
  bool found = false;
  m->step++;
  m->next.n = 0;
  for (int t = 0; t < m->now.n; t++) {
    const inst *i = &m->r->code[m->now.at[t]];
    const size_t *saved = m->now.saved + (size_t)t * (size_t)m->slots;
    if (i->kind == I_MATCH) {
      if (to_the_end && at != m->size) continue;
      memcpy(m->best, saved, (size_t)m->slots * sizeof *saved);
      if (m->slots) m->best[1] = at;
      found = true;
      break;
    }
    if (length == 0 || !in_set(i->set, rune)) continue;
    memcpy(m->held, saved, (size_t)m->slots * sizeof *saved);
    add_thread(m, &m->next, i->x, at + (size_t)length);
  }
  thread_list swap = m->now;
  m->now = m->next;
  m->next = swap;
  return found;
}

/* Searches for a match from `from` on. best[0] and best[1] are its ends. `anchored`: it must span `from` to the end
 * of the text. */
static bool regex_search(machine *m, size_t from, bool anchored) {
  bool found = false;
  m->now.n = 0;
  m->step++;
  for (size_t at = from;;) {
    int length = 0, rune = at < m->size ? weft__rune(m->s + at, m->size - at, &length) : -1;
    /* a match may also begin here, with lower preference than earlier ones */
    if (!found && (at == from || !anchored)) {
      for (int i = 0; i < m->slots; i++) m->held[i] = NOWHERE;
      if (m->slots) m->held[0] = at;
      add_thread(m, &m->now, 0, at);
    }
    if (m->now.n == 0 && (found || anchored)) break;
    found |= step_threads(m, at, rune, length, anchored);
    if (length == 0) break;
    at += (size_t)length;
  }
  return found;
}

weft_err weft__regex_full(const regex *r, const char *s, size_t size, bool *matches) {
  machine m;
  WEFT_TRY(machine_init(&m, r, s, size, false));
  *matches = regex_search(&m, 0, true);
  machine_finish(&m);
  return WEFT_OK;
}

/* ---- replacing ---- */

/* Returns the highest group number in a rewrite. */
static int highest_group(const char *rewrite, size_t size) {
  int most = 0;
  for (size_t i = 0; i + 1 < size; i++) {
    if (rewrite[i] != '\\') continue;
    i++;
    if (rewrite[i] >= '0' && rewrite[i] <= '9' && rewrite[i] - '0' > most) most = rewrite[i] - '0';
  }
  return most;
}

/* Appends the rewrite of the match in best.  Returns false if a backslash has no meaning. */
static bool rewrite_match(const machine *m, const char *rewrite, size_t size, text *out) {
  for (size_t i = 0; i < size; i++) {
    if (rewrite[i] != '\\') {
      weft__text_add(out, rewrite + i, 1);
      continue;
    }
    int c = ++i < size ? rewrite[i] : 0;
    if (c >= '0' && c <= '9') {
      size_t begin = m->best[2 * (c - '0')], end = m->best[2 * (c - '0') + 1];
      if (begin != NOWHERE && end != NOWHERE) weft__text_add(out, m->s + begin, end - begin);
    } else if (c == '\\') {
      weft__text_puts(out, "\\");
    } else {
      return false;
    }
  }
  return true;
}

static void add_from(const machine *m, size_t from, size_t to, text *out) {
  if (to > from) weft__text_add(out, m->s + from, to - from);
}

/* Replaces all matches.  An empty match directly after another match is ignored, and the next rune is copied. */
static void replace_all(machine *m, const char *rewrite, size_t rewrite_size, text *out) {
  size_t at = 0, last_end = NOWHERE;
  while (at <= m->size && regex_search(m, at, false)) {
    size_t begin = m->best[0], end = m->best[1];
    add_from(m, at, begin, out);
    int length = 1;
    if (begin == end && begin == last_end) {
      if (begin >= m->size) return;
      weft__rune(m->s + begin, m->size - begin, &length);
      add_from(m, begin, begin + (size_t)length, out);
      at = begin + (size_t)length;
      continue;
    }
    rewrite_match(m, rewrite, rewrite_size, out);
    at = last_end = end;
  }
  add_from(m, at, m->size, out);
}

static void replace_first(machine *m, const char *rewrite, size_t rewrite_size, text *out) {
  text one = {0};
  size_t at = 0;
  if (regex_search(m, 0, false) && rewrite_match(m, rewrite, rewrite_size, &one)) {
    add_from(m, 0, m->best[0], out);
    weft__text_add(out, weft__text_get(&one), one.size);
    at = m->best[1];
  }
  out->failed |= one.failed;
  add_from(m, at, m->size, out);
  weft__text_finish(&one);
}

weft_err weft__regex_replace(const regex *r, const char *s, size_t size, const char *rewrite, size_t rewrite_size,
                             bool all, text *out) {
  machine m;
  WEFT_TRY(machine_init(&m, r, s, size, true));
  if (highest_group(rewrite, rewrite_size) > r->groups)
    add_from(&m, 0, size, out);
  else
    (all ? replace_all : replace_first)(&m, rewrite, rewrite_size, out);
  machine_finish(&m);
  return out->failed ? WEFT_OOM : WEFT_OK;
}
