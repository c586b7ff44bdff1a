/* branches_test.c - which items become branches of a group, and that threads that share them change nothing. */
#include "exec/branches/branches.h"
#include "base/alloc.h"
#include "exec/compile.h"
#include "exec/test_graph.h"
#include "graph/build.h"

enum { TABLES = 8, ROWS = 50, WIDTH = 3, IDS = 7, RUNS = 40 };

static weft_out make_table(weft_graph *g, const char *name, const char *shared, int *start, double first) {
  attr of[] = {A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &SHAPE2(ROWS, WIDTH)), A_STR("shared_name", shared)};
  const weft_out v = weft__b_node(g, "VariableV2", name, 0, NULL, 3, of);
  const weft_out to =
      weft__b_fill(g, weft__b_ints(g, (int64_t[]){ROWS, WIDTH}, 2), weft__b_scalar(g, WEFT_FLOAT, first));
  *start = weft__b_node(g, "Assign", NULL, 2, (weft_out[]){v, to}, 0, NULL).node;
  return v;
}

typedef struct tables {
  bench b;
  weft_out ids, table[TABLES], found[TABLES], update[TABLES];
  int start[TABLES];
} tables;

/* Each table has a lookup of ids + its number, and an update of these rows by what was found. */
static tables tables_build(int threads, bool one_table) {
  tables t = {.b = begin()};
  weft_graph *g = t.b.g;
  t.ids = weft__b_node(g, "Placeholder", "ids", 0, NULL, 2,
                       (attr[]){A_TYPE("dtype", WEFT_INT32), A_SHAPE("shape", &SHAPE1(-1))});
  for (int i = 0; i < TABLES; i++)
    t.table[i] = make_table(g, NULL, one_table ? "the_table" : "", &t.start[i], one_table ? 1 : i + 1);
  for (int i = 0; i < TABLES; i++) {
    const weft_out own = weft__b_binary(g, "AddV2", t.ids, weft__b_scalar(g, WEFT_INT32, i));
    const weft_out read = weft__b_unary(g, "Identity", t.table[i]);
    t.found[i] = weft__b_node(g, "Gather", NULL, 2, (weft_out[]){read, own}, 0, NULL);
  }
  const weft_out sum = weft__b_node(g, "AddN", NULL, TABLES, t.found, 0, NULL);
  for (int i = 0; i < TABLES; i++) {
    const weft_out scaled = weft__b_binary(g, "Mul", sum, weft__b_scalar(g, WEFT_FLOAT, 0.01 * (i + 1)));
    t.update[i] =
        weft__b_node(g, i % 2 ? "ScatterMul" : "ScatterAdd", NULL, 3, (weft_out[]){t.table[i], t.ids, scaled}, 0, NULL);
  }
  EXPECT_OK(weft__b_ok(g));
  EXPECT_OK(weft__session_create(&t.b.s, g, &(session_opts){.intra_threads = threads, .inter_threads = 1}));
  EXPECT_OK(weft__session_run(t.b.s, &(plan_request){.n_target = TABLES, .target = t.start}, NULL, NULL, NULL));
  return t;
}

static weft_err tables_step(tables *t, int first, weft_tensor **out) {
  weft_tensor *ids;
  int target[TABLES];
  for (int i = 0; i < TABLES; i++) target[i] = t->update[i].node;
  EXPECT_OK(weft__tensor_create(&ids, WEFT_INT32, &SHAPE1(IDS)));
  for (int i = 0; i < IDS; i++) TENSOR_DATA(ids, int32_t)[i] = first + i * i % 11;
  const plan_request r = {
      .n_feed = 1, .feed = &t->ids, .n_fetch = TABLES, .fetch = t->found, .n_target = TABLES, .target = target};
  const weft_err err = weft__session_run(t->b.s, &r, (const weft_tensor *const *)&ids, out, NULL);
  weft_tensor_destroy(ids);
  return err;
}

static void expect_equal_steps(bool one_table) {
  tables t[2] = {tables_build(1, one_table), tables_build(3, one_table)};
  for (int n = 0; n < RUNS; n++) {
    weft_tensor *out[2][TABLES];
    for (int i = 0; i < 2; i++) EXPECT_OK(tables_step(&t[i], n % 10, out[i]));
    for (int i = 0; i < TABLES; i++) {
      EXPECT_EQ_INT(memcmp(out[0][i]->data, out[1][i]->data, weft__tensor_bytes(out[0][i])), 0);
      for (int of = 0; of < 2; of++) weft_tensor_destroy(out[of][i]);
    }
  }
  for (int i = 0; i < 2; i++) end(&t[i].b);
}

TEST(steps_of_many_tables_have_the_same_bits_on_one_and_on_several_threads) { expect_equal_steps(false); }

TEST(updates_of_one_variable_under_many_names_keep_their_order) { expect_equal_steps(true); }

TEST(the_first_branch_that_fails_gives_the_error) {
  tables t = tables_build(3, false);
  for (int n = 0; n < RUNS; n++) {
    weft_tensor *out[TABLES] = {NULL};
    EXPECT_ERR(tables_step(&t, ROWS - 14, out), WEFT_INVALID_ARGUMENT, "is not in [0, 50)");
    EXPECT_OK(tables_step(&t, 3, out)); /* the plan still runs */
    for (int i = 0; i < TABLES; i++) weft_tensor_destroy(out[i]);
  }
  end(&t.b);
}

static int count_groups(tables *t, int *branches) {
  plan *p;
  int target[TABLES];
  for (int i = 0; i < TABLES; i++) target[i] = t->update[i].node;
  const plan_request r = {.n_feed = 1, .feed = &t->ids, .n_target = TABLES, .target = target};
  EXPECT_OK(weft__plan_create(&p, t->b.g, &r));
  const int n = p->straight.n_group;
  *branches = 0;
  for (int i = 0; i < n; i++) *branches += p->straight.group[i].n_branch;
  weft__plan_destroy(p);
  return n;
}

TEST(lookups_and_updates_of_many_tables_are_two_groups) {
  tables t = tables_build(1, false);
  int branches;
  EXPECT_EQ_INT(count_groups(&t, &branches), 2);
  EXPECT_EQ_INT(branches, 2 * TABLES);
  end(&t.b);
}

TEST(updates_of_one_variable_are_no_branches) {
  tables t = tables_build(1, true);
  int branches;
  EXPECT_EQ_INT(count_groups(&t, &branches), 2);
  EXPECT(branches < 2 * TABLES + 1);
  end(&t.b);
}
