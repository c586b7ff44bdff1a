/* opfuzz.c - random small graphs for every op, each an answer or an error: never a crash, a hang or a heap of memory.
 *
 *   opfuzz [--seed S] [--from I] [--count N | --seconds T] [--op NAME] [--server HOST:PORT | --serve WEFT]
 *          [--workers N] [--at-least PERCENT] [--only] [--dump FILE] [--list]
 *   opfuzz --replay FILE    the graphs that once went wrong, in every form (tests/corpus/opfuzz)
 *
 * A worker process runs graphs; the parent notes what kills it and starts another behind that graph.  A finding names
 * seed and index: --seed S --from I --count 1 repeats it, --dump FILE keeps its GraphDef, --only prints it and its
 * result. With --serve a server is started and the graphs go there by the wire.  Without --op, graph I is of op I
 * modulo the number of ops: the first round as the op's case has it, the second with constants for inputs, the rest at
 * random. */
#include "tests/opfuzz/opfuzz.h"
#include "base/clock.h"
#include "net/rpc.h"
#include "ops/all.h"
#include "tests/opfuzz/worker.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which graph ---- */

typedef struct seed_list { /* of one op */
  int n;
  struct {
    const char *recipe; /* or NULL */
    const op_case *from;
  } seed[64];
} seed_list;

static const op *ops_by_index[MAX_OPS];
static seed_list seeds[MAX_OPS];
static int n_ops;

static int op_index(const char *name) {
  for (int i = 0; i < n_ops; i++)
    if (strcmp(ops_by_index[i]->opdef.name, name) == 0) return i;
  return -1;
}

static void add_seed(int at, const char *recipe, const op_case *from) {
  seed_list *l = &seeds[at];
  if (l->n == 64) return;
  l->seed[l->n].recipe = recipe;
  l->seed[l->n++].from = from;
}

static void list_ops(const op_table *table) {
  for (const op *const *list = weft__ops_all(); *list; list++)
    for (const op *row = *list; row->def; row++) {
      char name[128];
      snprintf(name, sizeof name, "%.*s", (int)strcspn(row->def, "("), row->def);
      if (n_ops == MAX_OPS) {
        printf("there are more than %d ops: raise MAX_OPS in tests/opfuzz/worker.h\n", MAX_OPS);
        exit(2);
      }
      ops_by_index[n_ops++] = weft__op_find(table, name);
    }
}

static void list_seeds(const op_table *table) {
  static model m;
  for (int i = 0; i < n_ops; i++)
    for (const op_case *c = ops_by_index[i]->cases; c && (c->in || c->attr || c->out); c++)
      if (!c->out || strncmp(c->out, "error", 5) != 0) add_seed(i, NULL, c);
  for (int k = 0; fuzz_recipes[k]; k++) {
    if (model_read(&m, table, fuzz_recipes[k]) != WEFT_OK) {
      printf("%s\n%s\n", weft__error_message(), fuzz_recipes[k]);
      exit(2);
    }
    for (int i = 0; i < m.n_node; i++) add_seed(op_index(m.node[i].op->opdef.name), fuzz_recipes[k], NULL);
    model_finish(&m);
  }
}

static weft_err read_seed(model *m, const op_table *table, int op_at, int which) {
  const seed_list *l = &seeds[op_at];
  if (l->n == 0) return weft__fail(WEFT_NOT_FOUND, "no seed");
  which %= l->n;
  return l->seed[which].recipe ? model_read(m, table, l->seed[which].recipe)
                               : model_from_case(m, table, ops_by_index[op_at], l->seed[which].from);
}

/* The feed by which the result is differentiated. */
static int feed_to_differentiate(const request *q, fuzz_random *r) {
  if (q->n_feed == 0 || q->form != FORM_PLAIN || !fuzz_one_in(r, 5)) return -1;
  return fuzz_below(r, q->n_feed);
}

weft_err fuzz_graph_at(const options *o, const op_table *table, int64_t index, model *m, request *q) {
  const int op_at = o->op ? op_index(o->op) : (int)(index % n_ops);
  const int64_t round = o->op ? index : index / n_ops;
  fuzz_random r = {o->seed * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)index * UINT64_C(0xD1B54A32D192ED03)};
  form f = FORM_PLAIN;
  if (round < 2) {
    WEFT_TRY(read_seed(m, table, op_at, 0));
    for (int i = 0; i < m->n_node; i++)
      for (int k = 0; k < m->node[i].n_in; k++) m->node[i].in[k].fed = round == 0;
  } else {
    WEFT_TRY(read_seed(m, table, op_at, fuzz_below(&r, 64)));
    model_mutate(m, &r, ops_by_index[op_at]);
    f = fuzz_one_in(&r, 2) ? FORM_PLAIN : (form)fuzz_below(&r, FORMS);
  }
  WEFT_TRY(request_write(q, m, f, &r));
  if (round >= 2) q->differentiate = feed_to_differentiate(q, &r);
  return WEFT_OK;
}

/* ---- what came of it ---- */

void fuzz_count(shared *s, const request *q, bool computed) {
  bool seen[MAX_OPS] = {false};
  for (int i = 0; i < q->n_op; i++) {
    int at = op_index(q->op[i]);
    if (at < 0 || seen[at]) continue;
    seen[at] = true;
    s->tried[at]++;
    if (computed && q->taken) s->computed[at]++;
  }
}

const char *fuzz_op_name(int i) { return ops_by_index[i]->opdef.name; }

/* All cases of the op expect an error: TensorFlow has no result of it either (ops/nn/quantized_fused.c). */
static bool only_fails(const op *p) {
  const op_case *c = p->cases;
  for (; c && (c->in || c->attr || c->out); c++)
    if (!c->out || strncmp(c->out, "error ", 6) != 0) return false;
  return c != p->cases;
}

/* An op without a kernel never computes a result, except by what a session makes of it; a short run tries some ops
 * only. */
static bool is_counted(const shared *s, const options *o, int i) {
  if ((!ops_by_index[i]->cpu || only_fails(ops_by_index[i])) && s->computed[i] == 0) return false;
  return s->tried[i] > 0 || !(o->op || o->count < n_ops);
}

static int report(const shared *s, const options *o) {
  int never = 0, some = 0;
  int64_t computed = 0;
  for (int i = 0; i < n_ops; i++) {
    if (!is_counted(s, o, i)) continue;
    some++;
    never += s->computed[i] == 0;
  }
  computed = s->results;
  printf("%lld graphs, %lld computed a result, %d findings; %d of %d ops computed a result (%.1f %%)\n",
         (long long)s->graphs, (long long)computed, s->findings, some - never, some,
         some ? 100.0 * (some - never) / some : 0.0);
  if (never) printf("never computed a result:");
  for (int i = 0; i < n_ops; i++)
    if (s->computed[i] == 0 && is_counted(s, o, i)) printf(" %s(%lld)", fuzz_op_name(i), (long long)s->tried[i]);
  if (never) printf("\n");
  if (100 * (some - never) < o->at_least * some) {
    printf("FAILED: fewer than %d %% of the ops computed a result\n", o->at_least);
    return 1;
  }
  return s->findings ? 1 : 0;
}

static void usage(void) {
  printf(
      "usage: opfuzz [--seed S] [--from I] [--count N | --seconds T] [--op NAME] [--server HOST:PORT | --serve WEFT]\n"
      "              [--workers N] [--at-least PERCENT] [--only] [--dump FILE] [--replay FILE] [--list]\n");
  exit(2);
}

static void read_options(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(a, "--only") == 0) {
      o->only = true;
      continue;
    }
    if (strcmp(a, "--list") == 0) {
      o->list = true;
      continue;
    }
    if (!v) usage();
    i++;
    if (strcmp(a, "--seed") == 0)
      o->seed = strtoull(v, NULL, 0);
    else if (strcmp(a, "--from") == 0)
      o->from = strtoll(v, NULL, 0);
    else if (strcmp(a, "--count") == 0)
      o->count = strtoll(v, NULL, 0);
    else if (strcmp(a, "--seconds") == 0)
      o->seconds = strtoll(v, NULL, 0);
    else if (strcmp(a, "--op") == 0)
      o->op = v;
    else if (strcmp(a, "--server") == 0)
      o->server = v;
    else if (strcmp(a, "--serve") == 0)
      o->serve = realpath(v, NULL);
    else if (strcmp(a, "--workers") == 0)
      o->workers = atoi(v);
    else if (strcmp(a, "--at-least") == 0)
      o->at_least = atoi(v);
    else if (strcmp(a, "--dump") == 0)
      o->dump = v;
    else if (strcmp(a, "--replay") == 0)
      o->replay = v;
    else
      usage();
  }
}

static void list(void) {
  for (int i = 0; i < n_ops; i++) printf("%d %s: %d seeds\n", i, fuzz_op_name(i), seeds[i].n);
}

int main(int argc, char **argv) {
  const op_table *table;
  options o = {.seed = 1, .count = 10000, .workers = 1};
  setvbuf(stdout, NULL, _IOLBF, 0);
  read_options(&o, argc, argv);
  weft_must(weft__ops_table(&table));
  list_ops(table);
  list_seeds(table);
  if (o.op && op_index(o.op) < 0) {
    printf("there is no op %s\n", o.op);
    return 2;
  }
  if (o.list) {
    list();
    return 0;
  }
  shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 2;
  printf("seed %llu\n", (unsigned long long)o.seed);
  if (o.replay) return replay(&o, table, s);
  if (o.only || o.dump) return fuzz_one(&o, table, s);
  fuzz_all(&o, table, s);
  return report(s, &o);
}
