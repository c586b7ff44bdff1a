/* opfuzz.h - random small graphs for every op: how a graph is described, changed, written and run.
 *
 * A graph starts as text, a case of an op (graph/op.h) or a recipe (recipes.c), is read into a `model`, changed at
 * random, put into one of several forms (alone, in a function, in a branch, in a loop) and written as a GraphDef with
 * the request that runs it.  Everything follows from two numbers, a seed and an index. */
#ifndef WEFT_TESTS_OPFUZZ_H
#define WEFT_TESTS_OPFUZZ_H

#include "base/arena.h"
#include "graph/graph.h"
#include "tf.pb-c.h"

enum { MAX_NODES = 24, MAX_IN = 32, MAX_ATTRS = 40, MAX_CONTROL = 8, MAX_TENSORS = 256, MAX_FLAT = 200 };

/* ---- chance ---- */
typedef struct fuzz_random {
  uint64_t state;
} fuzz_random;
uint64_t fuzz_next(fuzz_random *r);
int fuzz_below(fuzz_random *r, int n); /* 0 if n <= 0 */
static inline bool fuzz_one_in(fuzz_random *r, int n) { return fuzz_below(r, n) == 0; }

/* ---- the model ---- */
typedef enum in_kind { IN_VALUE, IN_VARIABLE, IN_EDGE, IN_ARG } in_kind;
typedef enum static_shape {
  SHAPE_SAME,
  SHAPE_ANY,
  SHAPE_LIE
} static_shape; /* what the placeholder of a fed value says */

typedef struct fuzz_in {
  in_kind kind;
  weft_tensor *value; /* of a value or variable; the model's */
  bool fed;           /* a placeholder, not a constant */
  static_shape says;
  bool swollen; /* the constant's shape says more than it holds */
  int64_t swell;
  int node, slot; /* of an edge; `node` of an argument: which */
} fuzz_in;

typedef struct fuzz_node {
  char name[32];
  const op *op;
  int n_in, n_attr, n_control;
  fuzz_in in[MAX_IN];
  attr attr[MAX_ATTRS]; /* a function: ATTR_FUNC, its name in s, or names in ss */
  int control[MAX_CONTROL];
} fuzz_node;

typedef struct fuzz_arg {
  char name[32];
  weft_dtype type;
  int node, slot; /* of a result */
} fuzz_arg;

typedef struct model {
  arena arena;
  const op_table *ops;
  int n_node, n_tensor, n_arg, n_ret;
  fuzz_node node[MAX_NODES];
  fuzz_arg arg[8], ret[8]; /* of a function */
  weft_tensor *tensor[MAX_TENSORS];
} model;

/* Reads statements "name = Op(input; input; ^after) attr=value", one a line; an input is a value of graph/op.h's
 * notation, or "name" or "name:1".  A first line "fn NAME x:int64 -> y:0:int64" makes it a function.  INTERNAL says
 * what is wrong. */
weft_err model_read(model *m, const op_table *ops, const char *text);
weft_err model_from_case(model *m, const op_table *ops, const op *o, const op_case *c);
void model_finish(model *m);
weft_tensor *model_tensor(model *m, weft_dtype type, const shape *s); /* zeros, the model's; NULL: no room */
weft_dtype model_out_type(const model *m, int node, int slot);        /* WEFT_INVALID: not known */
int model_out_count(const model *m, int node);
bool model_out_is_ref(const model *m, int node, int slot);
/* The definition's name of an output, and which of its list it is. */
const char *model_out_name(const model *m, int node, int slot, int *index);
void model_print(const model *m); /* for people, on stdout */

/* ---- recipes ---- */
extern const char *const fuzz_recipes[];   /* graphs for ops that have no cases; ended by NULL */
extern const char *const fuzz_functions[]; /* what they call */

/* ---- changing ---- */
void model_mutate(model *m, fuzz_random *r, const op *wanted);
void model_change_types(model *m, fuzz_random *r, int node); /* all values of one type get another */

/* ---- writing ---- */
typedef enum form {
  FORM_PLAIN,
  FORM_CALL,     /* (Stateful)PartitionedCall */
  FORM_NAMED,    /* a node whose op is the function's name */
  FORM_IF,       /* both branches */
  FORM_WHILE,    /* the body, twice */
  FORM_CASE,     /* one of three branches */
  FORM_COND,     /* Switch and Merge */
  FORM_LOOP,     /* Enter, NextIteration, Exit */
  FORM_SYMBOLIC, /* the gradient of the function */
  FORMS
} form;
extern const char *const fuzz_form_names[FORMS];

typedef struct request { /* a graph and how it is run; memory is the arena's */
  arena arena;
  form form;
  bool taken; /* the branch that holds the ops runs */
  uint8_t *bytes;
  size_t size;
  int n_feed, n_fetch, n_target, n_init;
  const char *feed[64], *fetch[16], *target[64], *init[16];
  const weft_tensor *fed[64];
  int n_op;
  const char *op[MAX_FLAT]; /* the ops in it */
  int differentiate;        /* index of a feed, or -1 */
} request;
weft_err request_write(request *q, model *m, form f, fuzz_random *r);
void request_finish(request *q);

/* ---- running ---- */
weft_err fuzz_run_here(const request *q, const op_table *ops);
struct channel;
weft_err fuzz_run_there(const request *q, struct channel *c);

#endif
