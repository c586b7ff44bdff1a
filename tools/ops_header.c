/* ops_header.c - prints weft/ops.h: a function for every op, made from the table.
 *
 * Run by the build.  Each function takes the op's inputs under their own names and its attributes as
 * text, and returns the first output; a list of inputs is a count and an array. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

/* One argument "name:type" of a definition. */
typedef struct argument {
  char name[64];
  bool is_list;
} argument;

enum { MAX_ARGUMENTS = 32 };

/* Words that C keeps for itself, or that the function uses. */
static bool is_reserved(const char *name) {
  static const char *const words[] = {"default", "switch", "case", "g", "attrs", "signed", "unsigned", "in", "n"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

static int read_arguments(const char *definition, argument *out) {
  const char *at = strchr(definition, '(') + 1, *end = strchr(at, ')');
  int n = 0;
  while (at < end && n < MAX_ARGUMENTS) {
    at += strspn(at, ", ");
    size_t length = strcspn(at, ":");
    const char *type = at + length + 1;
    size_t type_length = strcspn(type, ",)");
    snprintf(out[n].name, sizeof out[n].name, "%.*s", (int)length, at);
    if (is_reserved(out[n].name)) snprintf(out[n].name, sizeof out[n].name, "%.*s_", (int)length, at);
    out[n].is_list = type[0] == '@' || memchr(type, '*', type_length) != NULL;
    n++;
    at = type + type_length;
  }
  return n;
}

static void print_body(const char *name, const argument *a, int n) {
  printf("  weft_builder *b_ = weft_node_begin(g, \"%s\", NULL);\n", name);
  for (int i = 0; i < n; i++) {
    if (a[i].is_list)
      printf("  weft_builder_inputs(b_, \"%s\", n_%s, %s);\n", a[i].name, a[i].name, a[i].name);
    else
      printf("  weft_builder_input(b_, %s);\n", a[i].name);
  }
  printf("  weft_builder_attrs(b_, attrs);\n  return weft_builder_finish(b_);\n}\n");
}

static void print_op(int i) {
  argument a[MAX_ARGUMENTS];
  const char *name = weft_op_name(i);
  int n = read_arguments(weft_op_definition(i), a);
  printf("\n/* %s\n * %s */\nstatic inline weft_out weft_op_%s(weft_graph *g", weft_op_doc(i), weft_op_definition(i),
         name);
  for (int j = 0; j < n; j++)
    if (a[j].is_list)
      printf(", int n_%s, const weft_out *%s", a[j].name, a[j].name);
    else
      printf(", weft_out %s", a[j].name);
  printf(", const char *attrs) {\n");
  print_body(name, a, n);
}

int main(void) {
  printf("/* ops.h - a function for every op.  Made by the build from the op table; do not edit.\n *\n"
         " * attrs is text, \"transpose_b=true\", or NULL; types and lengths follow from the inputs. */\n"
         "#ifndef WEFT_OPS_H\n#define WEFT_OPS_H\n\n#include \"weft/weft.h\"\n\n#ifdef __cplusplus\nextern \"C\" "
         "{\n#endif\n");
  for (int i = 0; i < weft_op_count(); i++)
    if (weft_op_name(i)[0] != '_') print_op(i);
  printf("\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  return weft_op_count() == 0 || ferror(stdout) || fflush(stdout) != 0;
}
