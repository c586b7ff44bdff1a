/* collection_test.c - tests that definitions are found by the node that they name. */
#include "graph/collection.h"
#include "tests/check.h"
#include <stdio.h>
#include <string.h>

static const op_table no_ops;

/* Adds a message whose field 1 is `name`.  With `before`, field 2, a number, precedes it. */
static weft_err add(weft_graph *g, const char *list, const char *name, bool before) {
  char message[300];
  size_t n = 0;
  if (before) message[n++] = 2 << 3, message[n++] = 7;
  message[n++] = 1 << 3 | 2;
  message[n++] = (char)strlen(name);
  memcpy(message + n, name, strlen(name));
  return weft__collection_add_bytes(g, list, message, n + strlen(name));
}

static int find(const weft_graph *g, const char *node) {
  return weft__collection_find(weft__collection_get(g, "variables"), node);
}

TEST(a_definition_is_found_by_its_node_among_thousands) {
  weft_graph *g;
  char name[32];
  EXPECT_OK(weft__graph_create(&g, &no_ops));
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "v%d:0", i);
    EXPECT_OK(add(g, "variables", name, i % 2));
  }
  for (int i = 0; i < 3000; i++) {
    snprintf(name, sizeof name, "v%d", i);
    EXPECT_EQ_INT(find(g, name), i);
  }
  EXPECT_EQ_INT(find(g, "v3000"), -1);
  EXPECT_EQ_INT(find(g, "v"), -1);
  EXPECT_EQ_INT(find(g, ""), -1);
  weft__graph_destroy(g);
}

TEST(the_first_definition_of_a_node_counts) {
  weft_graph *g;
  EXPECT_OK(weft__graph_create(&g, &no_ops));
  EXPECT_OK(add(g, "variables", "a:0", false));
  EXPECT_OK(add(g, "variables", "a", false));
  EXPECT_OK(add(g, "variables", "b", false));
  EXPECT_EQ_INT(find(g, "a"), 0);
  EXPECT_EQ_INT(find(g, "b"), 2);
  weft__graph_destroy(g);
}

TEST(a_cut_list_forgets_what_was_cut) {
  weft_graph *g;
  collection *c;
  EXPECT_OK(weft__graph_create(&g, &no_ops));
  for (int i = 0; i < 20; i++) EXPECT_OK(add(g, "variables", i < 10 ? "old" : "new", false));
  EXPECT_OK(weft__collection_make(g, "variables", COLLECTION_BYTES, &c));
  EXPECT_EQ_INT(find(g, "new"), 10);
  weft__collection_cut(c, 10);
  EXPECT_EQ_INT(find(g, "old"), 0);
  EXPECT_EQ_INT(find(g, "new"), -1);
  EXPECT_OK(add(g, "variables", "other", false));
  EXPECT_EQ_INT(find(g, "other"), 10);
  weft__graph_destroy(g);
}

TEST(bytes_that_are_no_definition_are_kept_and_not_found) {
  weft_graph *g;
  EXPECT_OK(weft__graph_create(&g, &no_ops));
  EXPECT_OK(weft__collection_add_bytes(g, "variables", "", 0));
  EXPECT_OK(weft__collection_add_bytes(g, "variables", "\x0a", 1));
  EXPECT_OK(weft__collection_add_bytes(g, "variables", "\x0a\x7fshort", 7));
  EXPECT_OK(weft__collection_add_bytes(g, "variables", "\x13\x0a\x01x", 4));
  EXPECT_OK(weft__collection_add_bytes(g, "variables", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
  EXPECT_EQ_INT(find(g, "short"), -1);
  EXPECT_EQ_INT(find(g, "x"), -1);
  EXPECT_OK(add(g, "variables", "x", false));
  EXPECT_EQ_INT(find(g, "x"), 5);
  weft__graph_destroy(g);
}
