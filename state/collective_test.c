/* collective_test.c - groups are completed, refused and canceled; broadcasts need one source; step ids. */
#include "state/collective.h"
#include "tests/check.h"
#include <stdio.h>

typedef struct answer {
  int calls, source;
  weft_err err;
  char message[512];
  collective_group *group;
} answer;

static void on_group(void *arg, weft_err err, collective_group *g) {
  answer *a = arg;
  a->calls++;
  a->err = err;
  if (err) snprintf(a->message, sizeof a->message, "%s", weft__error_message());
  if (g) weft__object_retain(&g->base);
  a->group = g;
}

static void on_instance(void *arg, weft_err err, int source_rank) {
  answer *a = arg;
  a->calls++;
  a->err = err;
  if (err) snprintf(a->message, sizeof a->message, "%s", weft__error_message());
  a->source = source_rank;
}

#define TASK(n) "/job:worker/replica:0/task:" n "/device:CPU:0"

static collective_join joins(const char *device_name, int size) {
  return (collective_join){.group_key = 1,
                           .group_size = size,
                           .device_type = "CPU",
                           .member = {.device = (char *)(uintptr_t)device_name},
                           .instance_key = 7,
                           .type = COLLECTIVE_BROADCAST,
                           .dtype = WEFT_FLOAT,
                           .shape = SHAPE1(3)};
}

TEST(a_group_is_complete_when_all_have_come_and_sorted_by_number) {
  resources *r = NULL;
  collectives *c = NULL;
  EXPECT_OK(weft__resources_create(&r));
  EXPECT_OK(weft__collectives_get(r, &c));
  answer a[3] = {{0}};
  const char *name[] = {TASK("10"), TASK("2"), TASK("2")};
  for (int i = 0; i < 2; i++) {
    collective_join j = joins(name[i], 2);
    weft__collective_join_group(c, &j, false, NULL, on_group, &a[i]);
    EXPECT(a[0].calls == i);
  }
  EXPECT(a[1].calls == 1 && a[0].group == a[1].group && a[0].group->n_task == 2);
  EXPECT(strcmp(a[0].group->member[0].device, TASK("2")) == 0);
  EXPECT(weft__collective_rank(a[0].group, TASK("10")) == 1 && weft__collective_rank(a[0].group, TASK("3")) == -1);
  collective_join other = joins(name[2], 3);
  weft__collective_join_group(c, &other, false, NULL, on_group, &a[2]);
  EXPECT(a[2].err == WEFT_INTERNAL && strstr(a[2].message, "that group has size 2"));
  for (int i = 0; i < 2; i++) weft__collective_group_release(a[i].group);
  weft__collectives_release(c);
  weft__resources_destroy(r);
}

TEST(a_member_that_waits_is_canceled) {
  resources *r = NULL;
  collectives *c = NULL;
  cancel token;
  answer a = {0};
  weft__cancel_init(&token);
  EXPECT_OK(weft__resources_create(&r));
  EXPECT_OK(weft__collectives_get(r, &c));
  collective_join j = joins(TASK("0"), 2);
  weft__collective_join_group(c, &j, false, &token, on_group, &a);
  EXPECT(a.calls == 0);
  weft__cancel_fire(&token, WEFT_CANCELLED, "enough");
  EXPECT(a.calls == 1 && a.err == WEFT_CANCELLED && strstr(a.message, "enough"));
  answer late = {0};
  weft__collective_join_group(c, &j, false, &token, on_group, &late);
  EXPECT(late.calls == 1 && late.err == WEFT_CANCELLED);
  weft__cancel_finish(&token);
  weft__collectives_release(c);
  weft__resources_destroy(r);
}

TEST(a_broadcast_waits_for_its_source_and_has_one) {
  resources *r = NULL;
  collectives *c = NULL;
  EXPECT_OK(weft__resources_create(&r));
  EXPECT_OK(weft__collectives_get(r, &c));
  answer g[2] = {{0}}, a[3] = {{0}};
  collective_join j[2] = {joins(TASK("0"), 2), joins(TASK("1"), 2)};
  for (int i = 0; i < 2; i++) weft__collective_join_group(c, &j[i], false, NULL, on_group, &g[i]);
  j[1].is_source = true;
  weft__collective_join_instance(c, g[0].group, &j[0], false, NULL, on_instance, &a[0]);
  EXPECT(a[0].calls == 0);
  weft__collective_join_instance(c, g[0].group, &j[1], true, NULL, on_instance, &a[1]);
  EXPECT(a[0].calls == 1 && a[0].source == 1 && a[1].source == 1);
  j[0].is_source = true;
  weft__collective_join_instance(c, g[0].group, &j[0], false, NULL, on_instance, &a[2]);
  EXPECT(a[2].err == WEFT_INTERNAL && strstr(a[2].message, "already has source 1, received second claim from 0"));
  for (int i = 0; i < 2; i++) weft__collective_group_release(g[i].group);
  weft__collectives_release(c);
  weft__resources_destroy(r);
}

TEST(a_step_id_stays_until_its_step_has_ended) {
  resources *r = NULL;
  collectives *c = NULL;
  bool known = true;
  EXPECT_OK(weft__resources_create(&r));
  EXPECT_OK(weft__collectives_get(r, &c));
  (void)weft__collective_next_step(c, 5, &known);
  EXPECT(!known && weft__collectives_is_leader(c));
  const int64_t id = weft__collective_make_next_step(c, 5);
  EXPECT(weft__collective_make_next_step(c, 5) == id && weft__collective_make_next_step(c, 6) != id);
  weft__collective_end_step(c, 5, id, false);
  EXPECT(weft__collective_make_next_step(c, 5) == id + 1);
  weft__collective_end_step(c, 5, id, true); /* an old one changes nothing */
  EXPECT(weft__collective_next_step(c, 5, &known) == id + 1 && known);
  weft__collectives_release(c);
  weft__resources_destroy(r);
}
