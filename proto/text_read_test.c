/* text_read_test.c - what protobuf's text format says, as bytes; and what is not text. */
#include "proto/text.h"

#include "tests/check.h"
#include "tf.pb-c.h"

static bool known(const char *name, int32_t *number) {
  *number = 3;
  return strcmp(name, "DT_INT32") == 0;
}

static weft_err parse(text *out, const char *source) {
  return weft__proto_from_text(out, &tensorflow__graph_def__descriptor, source, strlen(source), known);
}

/* The graph that a text describes, unpacked; the caller's. */
static Tensorflow__GraphDef *graph_of(const char *source) {
  text bytes = {0};
  EXPECT_OK(parse(&bytes, source));
  Tensorflow__GraphDef *g = tensorflow__graph_def__unpack(NULL, bytes.size, (const uint8_t *)weft__text_get(&bytes));
  weft__text_finish(&bytes);
  EXPECT(g != NULL);
  return g;
}

TEST(a_node_as_tensorflow_writes_it) {
  Tensorflow__GraphDef *g =
      graph_of("# a graph\n"
               "node {\n  name: \"x\"\n  op: \"Const\"\n  input: \"a\" input: '^b'\n"
               "  attr { key: \"dtype\" value { type: DT_INT32 } }\n"
               "  attr < key: \"T\" value < list { i: [1, -2, 0x10] f: 1.5 f: 2f f: inf b: true } > >;\n"
               "}\nversions { producer: 1624 }\n");
  EXPECT_EQ_INT((int)g->n_node, 1);
  const Tensorflow__NodeDef *n = g->node[0];
  EXPECT_EQ_STR(n->name, "x");
  EXPECT_EQ_STR(n->input[1], "^b");
  EXPECT_EQ_INT(n->attr[0]->value->type, 3);
  const Tensorflow__AttrValueListValue *l = n->attr[1]->value->list;
  EXPECT(l->n_i == 3 && l->i[1] == -2 && l->i[2] == 16);
  EXPECT(l->n_f == 3 && l->f[0] == 1.5f && l->f[2] > 1e38f && l->n_b == 1 && l->b[0]);
  EXPECT_EQ_INT(g->versions->producer, 1624);
  tensorflow__graph_def__free_unpacked(g, NULL);
}

TEST(strings_are_joined_and_their_escapes_read) {
  Tensorflow__GraphDef *g = graph_of("node { attr { key: 'k' value { s: \"a\\n\\\"\" '\\101\\x42' } } }");
  const ProtobufCBinaryData *s = &g->node[0]->attr[0]->value->s;
  EXPECT(s->len == 5 && memcmp(s->data, "a\n\"AB", 5) == 0);
  tensorflow__graph_def__free_unpacked(g, NULL);
}

TEST(fields_that_are_not_known_are_read_over) {
  Tensorflow__GraphDef *g =
      graph_of("frob: [1, 2] frob: TFT_X frob { a { b: \"}\" } } node { name: \"x\" frob: -1.5e3 }");
  EXPECT(g->n_node == 1 && strcmp(g->node[0]->name, "x") == 0);
  tensorflow__graph_def__free_unpacked(g, NULL);
}

TEST(what_was_printed_is_read_back) {
  const char *source =
      "node {\n  name: \"x\\001\"\n  attr {\n    key: \"v\"\n    value {\n      tensor {\n        dtype: 1\n"
      "        tensor_shape {\n          dim {\n            size: -1\n          }\n        }\n"
      "        float_val: 0.100000001\n        int64_val: -7\n      }\n    }\n  }\n}\n";
  Tensorflow__GraphDef *g = graph_of(source);
  text again = {0};
  weft__proto_text(&again, &g->base, false);
  EXPECT_EQ_STR(weft__text_get(&again), source);
  weft__text_finish(&again);
  tensorflow__graph_def__free_unpacked(g, NULL);
}

TEST(an_error_names_its_line) {
  static const struct {
    const char *source, *says;
  } wrong[] = {{"node {\n  name: \"x\"\n", "line 3: it breaks off"},
               {"node { name: \"x }\n", "line 1: a string that does not end"},
               {"node {\n name \"x\" }", "line 2: no ':' after a name"},
               {"node: 5", "line 1: no { where a message belongs"},
               {"versions { producer: x1 }", "'x1' is no number and names none"},
               {"versions { producer: 1.5 }", "no whole number"},
               {"[type.googleapis.com/x] { }", "an extension"},
               {"node { name: \"\\q\" }", "an escape that is not known"},
               {"versions { bad_consumers: [1, 2 }", "a list that does not end"},
               {"node } ", "no ':' after a name"},
               {"}", "neither a name nor a value"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    text bytes = {0};
    EXPECT_ERR(parse(&bytes, wrong[i].source), WEFT_INVALID_ARGUMENT, wrong[i].says);
    weft__text_finish(&bytes);
  }
}

TEST(a_nest_without_an_end_is_refused) {
  text deep = {0}, bytes = {0};
  for (int i = 0; i < 100000; i++) weft__text_puts(&deep, "a{");
  EXPECT_ERR(parse(&bytes, weft__text_get(&deep)), WEFT_INVALID_ARGUMENT, "nested too deep");
  weft__text_finish(&deep);
  weft__text_finish(&bytes);
}

TEST(an_any_is_read_if_its_type_is_known) {
  const char *source = "any_list {\n  value { [type.googleapis.com/tensorflow.AssetFileDef] { filename: \"f\" } }\n"
                       "  value { [type.googleapis.com/x.Other] { a: 1 } }\n}";
  text bytes = {0};
  EXPECT_OK(weft__proto_from_text(&bytes, &tensorflow__collection_def__descriptor, source, strlen(source), known));
  Tensorflow__CollectionDef *c =
      tensorflow__collection_def__unpack(NULL, bytes.size, (const uint8_t *)weft__text_get(&bytes));
  weft__text_finish(&bytes);
  EXPECT(c && c->any_list && c->any_list->n_value == 2);
  EXPECT_EQ_STR(c->any_list->value[0]->type_url, "type.googleapis.com/tensorflow.AssetFileDef");
  const ProtobufCBinaryData *inside = &c->any_list->value[0]->value;
  Tensorflow__AssetFileDef *a = tensorflow__asset_file_def__unpack(NULL, inside->len, inside->data);
  EXPECT(a && strcmp(a->filename, "f") == 0);
  tensorflow__asset_file_def__free_unpacked(a, NULL);
  tensorflow__collection_def__free_unpacked(c, NULL);
}
