/* print.c - prints a model in readable form. */
#include "base/text.h"
#include "tests/opfuzz/opfuzz.h"
#include <stdio.h>

static void print_one(const attr *a, int i) {
  switch (a->kind) {
  case ATTR_INT: printf("%lld", (long long)(a->is_list ? a->is[i] : a->i)); break;
  case ATTR_FLOAT: printf("%g", (double)(a->is_list ? a->fs[i] : a->f)); break;
  case ATTR_BOOL: printf("%s", (a->is_list ? a->bs[i] : a->b) ? "true" : "false"); break;
  case ATTR_TYPE: printf("%s", weft__dtype_name(a->is_list ? a->types[i] : a->type)); break;
  case ATTR_SHAPE: printf("%s", weft__shape_text(a->is_list ? &a->shapes[i] : a->shape)); break;
  case ATTR_STRING: printf("'%.60s'", a->is_list ? a->ss[i].data : a->s.data); break;
  case ATTR_FUNC: printf("@%s", a->is_list ? a->ss[i].data : a->s.data); break;
  default: printf("?");
  }
}

static void print_attr(const attr *a) {
  printf(" %s=", a->name);
  if (!a->is_list) {
    print_one(a, 0);
    return;
  }
  printf("[");
  for (int i = 0; i < a->n && i < 20; i++) {
    if (i) printf(",");
    print_one(a, i);
  }
  printf("]");
}

void model_print(const model *m) {
  for (int i = 0; i < m->n_node; i++) {
    const fuzz_node *n = &m->node[i];
    printf("  %s = %s(", n->name, n->op->opdef.name);
    for (int j = 0; j < n->n_in; j++) {
      const fuzz_in *in = &n->in[j];
      if (in->kind == IN_EDGE || in->kind == IN_ARG)
        printf("%s%s:%d", j ? "; " : "", in->kind == IN_EDGE ? m->node[in->node].name : "arg", in->slot);
      else {
        text line = {0};
        weft__tensor_print(&line, in->value, 24);
        printf("%s%s%s%s%s%s %.400s", j ? "; " : "",
               in->kind == IN_VARIABLE ? "&"
               : in->fed               ? ""
                                       : "const ",
               in->swollen ? "swollen " : "", weft__dtype_name(in->value->dtype), weft__shape_text(&in->value->shape),
               in->says == SHAPE_ANY   ? " (shape unknown)"
               : in->says == SHAPE_LIE ? " (shape wrong)"
                                       : "",
               weft__text_get(&line));
        weft__text_finish(&line);
      }
    }
    printf(")");
    for (int j = 0; j < n->n_attr; j++) print_attr(&n->attr[j]);
    for (int j = 0; j < n->n_control; j++) printf(" ^%s", m->node[n->control[j]].name);
    printf("\n");
  }
}
