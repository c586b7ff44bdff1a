/* spec_test.c - tests cluster specs: their order, texts, addresses and messages. */
#include "cluster/spec.h"

#include "base/alloc.h"
#include "proto/scan.h"
#include "tests/check.h"
#include <stdio.h>

/* Returns the whole cluster as one line, for comparisons. */
static const char *cluster_text(const cluster *c) {
  static char line[1000];
  size_t n = 0;
  line[0] = 0;
  for (int i = 0; i < c->n_job; i++)
    for (int j = 0; j < c->job[i].n_task; j++)
      n += (size_t)snprintf(line + n, sizeof line - n, "%s%d=%s ", c->job[i].name, c->job[i].task[j].index,
                            c->job[i].task[j].address);
  return line;
}

TEST(tasks_come_in_order_whatever_order_they_were_added_in) {
  cluster c, copy;
  weft__cluster_init(&c);
  EXPECT_OK(weft__cluster_add(&c, "worker", 3, "c:1"));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, "a:1"));
  EXPECT_OK(weft__cluster_add(&c, "ps", 0, "p:1"));
  EXPECT_OK(weft__cluster_add(&c, "worker", 1, "[::1]:2222"));
  EXPECT_EQ_STR(cluster_text(&c), "ps0=p:1 worker0=a:1 worker1=[::1]:2222 worker3=c:1 ");
  EXPECT_EQ_INT(weft__cluster_size(&c), 4);
  EXPECT_EQ_STR(weft__cluster_address(&c, "worker", 3), "c:1");
  EXPECT(!weft__cluster_address(&c, "worker", 2) && !weft__cluster_address(&c, "chief", 0));
  EXPECT_ERR(weft__cluster_add(&c, "worker", 1, "d:1"), WEFT_ALREADY_EXISTS, "has two addresses");
  EXPECT_OK(weft__cluster_copy(&copy, &c));
  EXPECT_EQ_STR(cluster_text(&copy), "ps0=p:1 worker0=a:1 worker1=[::1]:2222 worker3=c:1 ");
  weft__cluster_finish(&copy);
  weft__cluster_finish(&c);
}

TEST(bad_names_and_addresses_are_refused) {
  cluster c;
  weft__cluster_init(&c);
  const char *bad[] = {"host", "host:", ":1", "host:x", "host:70000", "host:1 ", "::1:2", "[]:1", "a/b:1", "a b:1", ""};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    EXPECT_ERR(weft__cluster_add(&c, "ps", 0, bad[i]), WEFT_INVALID_ARGUMENT, "host-port pair");
  EXPECT_ERR(weft__cluster_add(&c, "1ps", 0, "a:1"), WEFT_INVALID_ARGUMENT, "name for a job");
  EXPECT_ERR(weft__cluster_add(&c, "", 0, "a:1"), WEFT_INVALID_ARGUMENT, "name for a job");
  EXPECT_ERR(weft__cluster_add(&c, "ps", -1, "a:1"), WEFT_INVALID_ARGUMENT, "index -1");
  EXPECT_EQ_INT(c.n_job, 0);
}

TEST(text_and_flags_make_a_cluster) {
  cluster c;
  EXPECT_OK(weft__cluster_parse(&c, "worker=c:3, d:4; ps = a:1,b:2;"));
  EXPECT_EQ_STR(cluster_text(&c), "ps0=a:1 ps1=b:2 worker0=c:3 worker1=d:4 ");
  weft__cluster_finish(&c);
  EXPECT_OK(weft__cluster_parse(&c, "# ours\nps=a:1\nworker=c:3\n"));
  EXPECT_EQ_STR(cluster_text(&c), "ps0=a:1 worker0=c:3 ");
  weft__cluster_finish(&c);
  EXPECT_OK(weft__cluster_parse(&c, " {\"ps\": [\"a:1\"], \"worker\": {\"2\": \"b:1\"}}"));
  EXPECT_EQ_STR(cluster_text(&c), "ps0=a:1 worker2=b:1 ");
  weft__cluster_finish(&c);
  EXPECT_ERR(weft__cluster_parse(&c, "ps=a:1;ps=b:1"), WEFT_ALREADY_EXISTS, "job ps twice");
  EXPECT_ERR(weft__cluster_parse(&c, "a:1,b:2"), WEFT_INVALID_ARGUMENT, "it must be job=host:port");
  EXPECT_ERR(weft__cluster_parse(&c, "ps=a:1,,b:2"), WEFT_INVALID_ARGUMENT, "task 1 of job ps");
  EXPECT_ERR(weft__cluster_parse(&c, ""), WEFT_INVALID_ARGUMENT, "no job");
}

TEST(tf_config_gives_the_cluster_and_the_task) {
  cluster c;
  char *job;
  int task;
  EXPECT_OK(
      weft__cluster_from_tf_config(&c,
                                   "{\"cluster\": {\"worker\": [\"b:1\", \"c:1\"], \"chief\": [\"a:1\"]},"
                                   " \"task\": {\"type\": \"worker\", \"index\": \"1\"}, \"environment\": \"cloud\"}",
                                   &job, &task));
  EXPECT_EQ_STR(cluster_text(&c), "chief0=a:1 worker0=b:1 worker1=c:1 ");
  EXPECT_EQ_STR(job, "worker");
  EXPECT_EQ_INT(task, 1);
  weft__free(job);
  weft__cluster_finish(&c);
  EXPECT_OK(weft__cluster_from_tf_config(&c, "{\"sparseCluster\": {\"worker\": {\"7\": \"w:1\"}}}", &job, &task));
  EXPECT_EQ_STR(cluster_text(&c), "worker7=w:1 ");
  EXPECT_EQ_STR(job, "");
  EXPECT_EQ_INT(task, -1);
  weft__free(job);
  weft__cluster_finish(&c);
  EXPECT_ERR(weft__cluster_from_tf_config(&c, "{\"cluster\": {\"worker\": \"b:1\"}}", &job, &task),
             WEFT_INVALID_ARGUMENT, "TF_CONFIG: job worker: neither a list");
  EXPECT_ERR(weft__cluster_from_tf_config(&c, "{\"task\": {\"type\": \"ps\", \"index\": \"x\"}}", &job, &task),
             WEFT_INVALID_ARGUMENT, "not the index of a task");
  EXPECT_ERR(weft__cluster_from_tf_config(&c, "{", &job, &task), WEFT_INVALID_ARGUMENT, "TF_CONFIG: JSON");
}

TEST(a_cluster_is_the_same_after_serialization) {
  cluster c, again;
  uint8_t *bytes;
  size_t size;
  ProtobufCMessage *def;
  EXPECT_OK(weft__cluster_parse(&c, "{\"ps\": [\"a:1\"], \"worker\": {\"0\": \"b:1\", \"5\": \"c:1\"}}"));
  EXPECT_OK(weft__cluster_to_def(&c, &bytes, &size));
  EXPECT_OK(weft__proto_unpack(&def, &tensorflow__cluster_def__descriptor, bytes, size));
  EXPECT_OK(weft__cluster_from_def(&again, (Tensorflow__ClusterDef *)def));
  EXPECT_EQ_STR(cluster_text(&again), "ps0=a:1 worker0=b:1 worker5=c:1 ");
  protobuf_c_message_free_unpacked(def, NULL);
  weft__free(bytes);
  weft__cluster_finish(&again);
  weft__cluster_finish(&c);
}

TEST(loopback_is_recognized) {
  cluster c;
  EXPECT_OK(weft__cluster_parse(&c, "ps=localhost:1,127.0.0.2:1,[::1]:1"));
  EXPECT(weft__cluster_is_loopback(&c));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, "10.0.0.1:1"));
  EXPECT(!weft__cluster_is_loopback(&c));
  weft__cluster_finish(&c);
}

TEST(a_name_that_begins_like_an_address_is_not_loopback) {
  const char *loopback[] = {"localhost", "127.0.0.1", "127.0.1.1", "127.1", "::1", "::ffff:127.0.0.1"};
  const char *
      not [] = {"127.example.org", "127.", "127.0.0.1.example.org", "128.0.0.1", "::2", "localhost.example.org", "a"};
  for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++) EXPECT(weft__host_is_loopback(loopback[i]));
  for (size_t i = 0; i < sizeof not / sizeof not [0]; i++) EXPECT(!weft__host_is_loopback(not [i]));
}
