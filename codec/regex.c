/* regex.c - compiles a pattern to instructions and runs all threads of the automaton in parallel over the text.
 *
 * At each rune, the machine holds the set of instructions where a thread may be, in order of preference, so that
 * alternatives and greediness have Perl's meaning.  Each thread has the positions of its groups.
 *
 * A deterministic automaton (regex_dfa.h) finds matches first, many times as fast.  If the rewrite uses groups of a
 * short match, these are found by trying its paths in turn.  The threads run only where one of the two gives up.
 *
 * Include cycle with codec/regex_dfa, codec/regex_program: the program is compiled here, and its automaton has a header
 * of its own. */
#include "codec/regex.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "codec/regex_dfa.h"
#include "codec/regex_program.h"
#include <string.h>

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
  WEFT_ASSERT(s >= 0 && s < r->n && r->code[s].kind == I_SPLIT && other >= 0 && other <= r->n);
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
  weft__regex_dfa_destroy(atomic_load(&r->idle));
  weft__free(r->code);
  weft__arena_finish(&r->arena);
  weft__free(r);
}

/* ---- running ---- */

enum { REWRITE_GROUPS = 10 }; /* \\0 to \\9 */

typedef struct thread_list {
  int n, *at;    /* instructions, most preferred first */
  size_t *saved; /* saved slots of each thread */
} thread_list;

typedef struct machine {
  regex *r;
  regex_dfa *dfa; /* NULL if there is none */
  const char *s;
  size_t size;
  bool uses_groups;
  int slots;
  thread_list now, next;
  int *mark;  /* per instruction: the last step it was added in */
  int *stack; /* instructions still to be followed, and slots to be restored */
  size_t *held, *stored, *undo;
  int step;
  void *room;         /* the allocation that holds all of the above; NULL until threads run */
  const size_t *best; /* the ends of the match, and of its groups if the rewrite uses any */
  size_t ends[2 * REWRITE_GROUPS];
} machine;

#define NOWHERE ((size_t)-1)

/* Takes the automaton that no other call uses, or makes one. */
static void machine_init(machine *m, regex *r, const char *s, size_t size) {
  *m = (machine){.r = r, .s = s, .size = size, .best = m->ends};
  if (atomic_load_explicit(&r->no_dfa, memory_order_relaxed)) return;
  m->dfa = atomic_exchange(&r->idle, NULL);
  if (!m->dfa && !(m->dfa = weft__regex_dfa_create(r))) atomic_store(&r->no_dfa, true);
}

static void machine_finish(machine *m) {
  regex_dfa *none = NULL;
  if (m->dfa && !atomic_compare_exchange_strong(&m->r->idle, &none, m->dfa)) weft__regex_dfa_destroy(m->dfa);
  weft__free(m->room);
}

/* Makes one allocation for everything that threads need. */
static weft_err machine_reserve(machine *m, bool groups) {
  if (m->room) return WEFT_OK;
  const size_t n = (size_t)m->r->n, slots = groups ? 2 * (size_t)(m->r->groups + 1) : 0;
  m->slots = weft__int_sat(slots);
  size_t places = 2 * n * slots + 2 * slots + 2 * n; /* saved slots of both lists, held, stored, values to restore */
  void *room = weft__alloc(places * sizeof(size_t) + 8 * n * sizeof(int) + 1);
  if (!room) return WEFT_OOM;
  m->room = room;
  m->now.saved = m->room;
  m->next.saved = m->now.saved + n * slots;
  m->held = m->next.saved + n * slots;
  m->stored = m->held + slots;
  m->undo = m->stored + slots;
  m->now.at = (int *)(void *)(m->undo + 2 * n);
  m->next.at = m->now.at + n;
  m->mark = m->next.at + n;
  m->stack = m->mark + n;
  memset(m->mark, 0, n * sizeof(int));
  return WEFT_OK;
}

static bool is_word(const machine *m, size_t at) {
  return at < m->size && weft__regex_word_char((unsigned char)m->s[at]);
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
  size_t *undo = m->undo;
  int top = 0, undos = 0;
  m->stack[top++] = pc;
  while (top > 0) {
    pc = m->stack[--top];
    if (pc < 0) {
      m->held[-pc - 1] = undo[--undos];
      continue;
    }
    if (m->mark[pc] == m->step) continue;
    WEFT_ASSERT(pc < m->r->n && top + 2 <= 4 * m->r->n); /* an instruction is added once, and pushes two at most */
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
      WEFT_ASSERT(to->n <= m->r->n);
    }
  }
}

/* Advances every thread over the rune at `at`.  Returns true if a match was stored and less preferred
 * threads were dropped. */
static bool step_threads(machine *m, size_t at, int rune, int length, bool to_the_end) {
  WEFT_ASSERT(m->room && at <= m->size && length >= 0);
  bool found = false;
  m->step++;
  m->next.n = 0;
  for (int t = 0; t < m->now.n; t++) {
    const inst *i = &m->r->code[m->now.at[t]];
    WEFT_ASSERT(i->kind == I_SET || i->kind == I_MATCH);
    const size_t *saved = m->now.saved + (size_t)t * (size_t)m->slots;
    if (i->kind == I_MATCH) {
      if (to_the_end && at != m->size) continue;
      memcpy(m->stored, saved, (size_t)m->slots * sizeof *saved);
      if (m->slots) m->stored[1] = at;
      found = true;
      break;
    }
    if (length == 0 || !weft__regex_in_set(i->set, rune)) continue;
    memcpy(m->held, saved, (size_t)m->slots * sizeof *saved);
    add_thread(m, &m->next, i->x, at + (size_t)length);
  }
  thread_list swap = m->now;
  m->now = m->next;
  m->next = swap;
  return found;
}

/* Runs the threads from `from` on.  m->stored has the ends of the match.  `here`: it begins there; `to_the_end`: it
 * ends at the end of the text. */
static bool run_threads(machine *m, size_t from, bool here, bool to_the_end) {
  WEFT_ASSERT(m->room && from <= m->size);
  bool found = false;
  m->now.n = 0;
  m->step++;
  for (size_t at = from;;) {
    int length = 0, rune = at < m->size ? weft__rune(m->s + at, m->size - at, &length) : -1;
    /* a match may also begin here, with lower preference than earlier ones */
    if (!found && (at == from || !here)) {
      for (int i = 0; i < m->slots; i++) m->held[i] = NOWHERE;
      if (m->slots) m->held[0] = at;
      add_thread(m, &m->now, 0, at);
    }
    if (m->now.n == 0 && (found || here)) break;
    found |= step_threads(m, at, rune, length, to_the_end);
    if (length == 0) break;
    at += (size_t)length;
  }
  return found;
}

/* ---- groups of a match that is known to begin at `from` ---- */

enum { VISITS = 2048 };

typedef struct visit {
  int pc, at; /* at: relative to `from`.  A negative pc restores the slot ~pc to `at`. */
} visit;

/* Follows one instruction from `at`.  Returns false if it leads nowhere.  *pushed says that v was set, and is to be
 * done after what follows from here. */
static bool follow_one(machine *m, size_t from, int *pc, int *at, visit *v, bool *pushed) {
  const inst *i = &m->r->code[*pc];
  const size_t here = from + (size_t)*at;
  int length;
  *pushed = false;
  switch (i->kind) {
  case I_SPLIT:
    *v = (visit){i->y, *at};
    *pushed = i->y != i->x;
    break;
  case I_SAVE:
    if (i->arg >= 2 * REWRITE_GROUPS) break;
    *v = (visit){~i->arg, m->ends[i->arg] == NOWHERE ? -1 : weft__int_sat(m->ends[i->arg] - from)};
    *pushed = true;
    m->ends[i->arg] = here;
    break;
  case I_ASSERT:
    if (!regex_holds(m, i->arg, here)) return false;
    break;
  default:
    if (here >= m->size || !weft__regex_in_set(i->set, weft__rune(m->s + here, m->size - here, &length))) return false;
    *at += length;
  }
  *pc = i->x;
  return true;
}

/* Finds the groups by trying paths in order of preference, and each instruction at each position only once.  Returns
 * false if there are too many of these. */
static bool regex_find_groups(machine *m, size_t from) {
  unsigned char seen[VISITS / 8] = {0};
  visit stack[VISITS + 1];
  const int window = VISITS / m->r->n;
  int top = 0;
  for (int i = 0; i < 2 * REWRITE_GROUPS; i++) m->ends[i] = i ? NOWHERE : from;
  for (visit v = {0, 0};;) {
    bool pushed, leads = true;
    while (v.pc >= 0 && leads) {
      if (v.at >= window) return false;
      const int place = v.pc * window + v.at;
      if (seen[place / 8] >> place % 8 & 1) break;
      seen[place / 8] |= (unsigned char)(1 << place % 8);
      if (m->r->code[v.pc].kind == I_MATCH) {
        m->ends[1] = from + (size_t)v.at;
        return true;
      }
      leads = follow_one(m, from, &v.pc, &v.at, &stack[top], &pushed);
      WEFT_ASSERT(top < VISITS);
      top += pushed;
    }
    if (v.pc < 0) m->ends[~v.pc] = v.at < 0 ? NOWHERE : from + (size_t)v.at;
    if (top == 0) return false; /* not reached: there is a match */
    v = stack[--top];
  }
}

/* Searches for a match from `from` on; m->best has its ends. */
static weft_err regex_search(machine *m, size_t from, bool *found) {
  WEFT_ASSERT(from <= m->size);
  const dfa_answer answer = m->dfa ? weft__regex_dfa_search(m->dfa, m->s, m->size, &from, &m->ends[1]) : DFA_GAVE_UP;
  m->ends[0] = from;
  m->best = m->ends;
  *found = answer == DFA_MATCH;
  if (answer == DFA_NO_MATCH || (answer == DFA_MATCH && (!m->uses_groups || regex_find_groups(m, from))))
    return WEFT_OK;
  WEFT_TRY(machine_reserve(m, true));
  m->best = m->stored;
  *found = run_threads(m, from, answer == DFA_MATCH, false);
  return WEFT_OK;
}

weft_err weft__regex_full(regex *r, const char *s, size_t size, bool *matches) {
  machine m;
  machine_init(&m, r, s, size);
  const dfa_answer answer = m.dfa ? weft__regex_dfa_full(m.dfa, s, size) : DFA_GAVE_UP;
  weft_err err = WEFT_OK;
  *matches = answer == DFA_MATCH;
  if (answer == DFA_GAVE_UP) {
    err = machine_reserve(&m, false);
    if (err == WEFT_OK) *matches = run_threads(&m, 0, true, true);
  }
  machine_finish(&m);
  return err;
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
      const char *escape = memchr(rewrite + i, '\\', size - i);
      const size_t plain = escape ? (size_t)(escape - rewrite) - i : size - i;
      weft__text_add(out, rewrite + i, plain);
      i += plain - 1;
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
static weft_err replace_all(machine *m, const char *rewrite, size_t rewrite_size, text *out) {
  size_t at = 0, last_end = NOWHERE;
  while (at <= m->size) {
    bool found;
    WEFT_TRY(regex_search(m, at, &found));
    if (!found) break;
    size_t begin = m->best[0], end = m->best[1];
    WEFT_ASSERT(begin >= at && begin <= end && end <= m->size);
    add_from(m, at, begin, out);
    int length = 1;
    if (begin == end && begin == last_end) {
      if (begin >= m->size) return WEFT_OK;
      weft__rune(m->s + begin, m->size - begin, &length);
      add_from(m, begin, begin + (size_t)length, out);
      at = begin + (size_t)length;
      continue;
    }
    rewrite_match(m, rewrite, rewrite_size, out);
    at = last_end = end;
  }
  add_from(m, at, m->size, out);
  return WEFT_OK;
}

static weft_err replace_first(machine *m, const char *rewrite, size_t rewrite_size, text *out) {
  text one = {0};
  size_t at = 0;
  bool found;
  WEFT_TRY(regex_search(m, 0, &found));
  if (found && rewrite_match(m, rewrite, rewrite_size, &one)) {
    add_from(m, 0, m->best[0], out);
    weft__text_add(out, weft__text_get(&one), one.size);
    at = m->best[1];
  }
  out->failed |= one.failed;
  add_from(m, at, m->size, out);
  weft__text_finish(&one);
  return WEFT_OK;
}

weft_err weft__regex_replace(regex *r, const char *s, size_t size, const char *rewrite, size_t rewrite_size, bool all,
                             text *out) {
  machine m;
  weft_err err = WEFT_OK;
  const int group = highest_group(rewrite, rewrite_size);
  machine_init(&m, r, s, size);
  m.uses_groups = group > 0;
  if (group > r->groups)
    add_from(&m, 0, size, out);
  else
    err = (all ? replace_all : replace_first)(&m, rewrite, rewrite_size, out);
  machine_finish(&m);
  return err == WEFT_OK && out->failed ? WEFT_OOM : err;
}
