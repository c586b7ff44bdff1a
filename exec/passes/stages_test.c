/* stages_test.c - the stages of steps that train on two ps, and how their scalars travel. */
#include "exec/passes/stages.h"

#include "tests/check.h"

enum { PS, WORKER, SECOND_PS };
enum { DENSE, POWER, IDS, ROWS, GRADIENT, RATE, UPDATE, NODES };

static void add(stages *s, int from, int from_task, int to, int to_task, bool small) {
  stage_edge e = {.from = from, .from_task = from_task, .to = to, .to_task = to_task, .small = small};
  EXPECT_OK(weft__stages_add(s, e));
}

/* A table on the second ps is looked up and updated, at a rate that is computed at `rate_at` from a power on the first.
 */
static stages lookup_step(int rate_at, bool gradient_reads_rate) {
  stages s;
  EXPECT_OK(weft__stages_init(&s, NODES));
  add(&s, POWER, PS, RATE, rate_at, true);
  add(&s, IDS, WORKER, ROWS, SECOND_PS, false);
  add(&s, DENSE, PS, GRADIENT, WORKER, false);
  add(&s, ROWS, SECOND_PS, GRADIENT, WORKER, false);
  if (gradient_reads_rate) add(&s, RATE, rate_at, GRADIENT, WORKER, true);
  add(&s, GRADIENT, WORKER, UPDATE, SECOND_PS, false);
  add(&s, RATE, rate_at, UPDATE, SECOND_PS, true);
  weft__stages_find_latest(&s, NODES);
  return s;
}

TEST(a_stage_counts_the_transfers_before_a_node) {
  stages s = lookup_step(WORKER, false);
  EXPECT_EQ_INT(s.at[ROWS], 1);
  EXPECT_EQ_INT(s.at[GRADIENT], 2);
  EXPECT_EQ_INT(s.at[RATE], 1);
  EXPECT_EQ_INT(s.at[UPDATE], 3);
  weft__stages_finish(&s);
}

TEST(a_scalar_waits_for_the_gradients_that_go_the_same_way) {
  stages s = lookup_step(WORKER, false);
  stage_route r = weft__stages_route(&s, RATE, WORKER, SECOND_PS, WORKER);
  EXPECT_EQ_INT(r.stage, 3);
  EXPECT_EQ_INT(r.relay, 0);
  r = weft__stages_route(&s, POWER, PS, WORKER, WORKER);
  EXPECT_EQ_INT(r.stage, 1);
  EXPECT_EQ_INT(r.relay, 0);
  weft__stages_finish(&s);
}

TEST(a_scalar_between_two_ps_goes_through_the_worker) {
  stages s = lookup_step(SECOND_PS, false);
  EXPECT_EQ_INT(s.latest[RATE], 3);
  stage_route r = weft__stages_route(&s, POWER, PS, SECOND_PS, WORKER);
  EXPECT_EQ_INT(r.stage, 3);
  EXPECT_EQ_INT(r.relay, 1);
  weft__stages_finish(&s);
}

TEST(a_scalar_that_another_task_waits_for_is_not_delayed) {
  stages s = lookup_step(SECOND_PS, true);
  EXPECT_EQ_INT(s.latest[RATE], 1);
  stage_route r = weft__stages_route(&s, POWER, PS, SECOND_PS, WORKER);
  EXPECT_EQ_INT(r.stage, 1);
  EXPECT_EQ_INT(r.relay, 0);
  weft__stages_finish(&s);
}
