/* op.h - one op: its definition, shape rule, kernel, gradient and cases, in one row of a table.
 *
 * A file ops/NAME.c ends in
 *     OPS(name) = {
 *       { "Softmax(logits:T) -> (softmax:T) | T:type{half,float}", "Normalised exponentials.",
 *         .infer = softmax_infer, .cpu = softmax_cpu, .grad = softmax_grad, .cases = softmax_cases },
 *       { 0 },
 *     };
 * and nothing else need be touched: the build makes the table from the folder.  A file without cases ends its list with
 * { .scenario = "tests/parity/test_queues.py" } instead. */
#ifndef WEFT_GRAPH_OP_H
#define WEFT_GRAPH_OP_H

#include "base/map.h"
#include "graph/opdef.h"

typedef struct kernel kernel; /* graph/kernel.h */
typedef struct op op;
typedef struct fusion fusion; /* graph/fusion.h */

/* ---- shape rules ---- */
typedef struct infer {
  const weft_node *node; /* name, op and attributes; its inputs are set */
  const weft_graph *graph;
  int n_in, n_out;
  const shape *in;    /* one per data input */
  shape *out;         /* to be set; starts as unknown */
  weft_tensor **held; /* the caller's: values handed out by weft__infer_value */
} infer;
/* The value of input i when it is known while building (a Const, mostly); NULL if not. Borrowed from
 * the inference: valid until the rule returns. */
const weft_tensor *weft__infer_value(infer *s, int i);
/* Input i read as a shape; elements not known are -1.  Unknown rank if nothing is known. */
weft_err weft__infer_shape_value(infer *s, int i, shape *out);
/* INVALID_ARGUMENT "Shape must be rank 2 but is rank 1 for 'fc1/MatMul' (op: 'MatMul') ..." */
weft_err weft__infer_rank(infer *s, int i, int rank, shape *out);
weft_err weft__infer_rank_at_least(infer *s, int i, int rank);
/* Fails with op, node and the input shapes appended to the message, as TF does. */
weft_err weft__infer_fail(infer *s, const char *fmt, ...) WEFT_PRINTF(2, 3);
#define weft__infer_fail(s, ...) (weft__infer_fail((s), __VA_ARGS__), weft__code(WEFT_INVALID_ARGUMENT))
/* Rules shared by many ops. */
weft_err weft__infer_same(infer *s);          /* out[0] = in[0] */
weft_err weft__infer_broadcast(infer *s);     /* out[0] = broadcast(in[0], in[1]) */
weft_err weft__infer_scalar(infer *s);        /* every output is a scalar */
weft_err weft__infer_attr_shape(infer *s);    /* output 0 has the shape of the attribute `shape` */
weft_err weft__infer_none(infer *s);          /* outputs stay unknown */
weft_err weft__infer_output_shapes(infer *s); /* as output_shapes says, if it has any */
weft_err weft__infer_merge_all(infer *s);     /* out[0] = all inputs merged (AddN, Merge-like) */

/* Rules for integer vectors of which only some elements are known while building, as in shapes whose batch size is not
 * (graph/constant.c).  They set *out to the elements, -1 where one is not known; false: nothing is known.  A `known_search`
 * bounds how many nodes are looked at. */
typedef struct known_search known_search;
typedef bool known_rule(known_search *k, const weft_graph *g, weft_out o, shape *out);
known_rule weft__known_shape;  /* the shape of input o.slot: Shape, ShapeN */
known_rule weft__known_input;  /* the elements of input 0: Identity, Cast */
known_rule weft__known_pack;   /* its inputs are scalars: Pack */
known_rule weft__known_concat; /* the elements of all inputs but the last, which is the axis: ConcatV2 */
known_rule weft__known_slice;  /* those of input 0 between two places, or one of them: StridedSlice */

/* ---- gradients ---- */
typedef struct grad_value {              /* the gradient towards one tensor: none, dense, or slices of it */
  weft_out dense;                        /* node < 0: not dense */
  weft_out indices, values, dense_shape; /* IndexedSlices when indices.node >= 0 */
} grad_value;
#define GRAD_NONE ((grad_value){WEFT_NONE, WEFT_NONE, WEFT_NONE, WEFT_NONE})
#define GRAD_DENSE(o) ((grad_value){(o), WEFT_NONE, WEFT_NONE, WEFT_NONE})

typedef struct backprop {
  weft_graph *graph;
  const weft_node *node; /* the forward node */
  int n_in, n_out;
  const weft_out *in; /* its inputs */
  weft_out *out;      /* its outputs */
  weft_out *dout;     /* gradient of each output, dense; node < 0: none arrived */
  grad_value *din;    /* to be set; starts as GRAD_NONE */
  const char *source; /* the name of this call of gradients: TensorArrayGradV3's `source` */
} backprop;
/* The gradient of output i, or zeros of its shape where none arrived. */
weft_out weft__backprop_dout(backprop *b, int i);
/* The gradient of an op whose inputs get none, by TF's registered function: Floor, ArgMax. */
weft_err weft__backprop_none(backprop *b);

/* ---- cases: what the battery and the parity test ask an op ----
 * in:   inputs separated by ';', each "f32[2,3] 1 2 3 4 5 6".  Types: f16 bf16 f32 f64 i8..i64 u8..u64
 *       bool str c64 c128 qi8 qi16 qi32 qu8 qu16.  Values: numbers (true/false, "quoted" strings), the last one repeated; or a
 *       generator: rand (uniform -1..1, ints -5..5), pos (0.1..2), unit (0..1 exclusive), seq (0,1,2..),
 *       below:N (ints 0..N-1), normal.  "&f32[2] 1 2" is a variable with that value (for reference and
 *       resource arguments alike); its value after the run is compared too.
 * attr: "axis=1 padding='SAME' strides=[1,2,2,1] T=float"; types follow from the inputs.
 * out:  expected outputs in the same notation, "error INVALID_ARGUMENT", or NULL: TensorFlow judges.
 * Flags: the gradient is checked against finite differences unless CASE_NO_GRAD; CASE_RANDOM outputs are
 * only checked for shape here (parity compares numbers); CASE_FIXED_TYPE is not retried with other types. */
enum { CASE_NO_GRAD = 1, CASE_RANDOM = 2, CASE_FIXED_TYPE = 4, CASE_NO_PARITY = 8 };
typedef struct op_case {
  const char *in, *out, *attr;
  int flags;
} op_case;

/* ---- the row ---- */
enum {
  OP_INPLACE = 1,      /* output 0 may be written over input 0 (or 1) element by element */
  OP_CONTROL_FLOW = 2, /* Switch, Merge, ...: the dataflow executor acts on it */
  OP_ASYNC = 4,        /* may complete later without holding a thread (queues): the dataflow executor runs it */
  OP_NO_FOLD = 8,      /* never evaluated ahead of time (besides stateful ones) */
  OP_SEED = 16,        /* has the attributes seed and seed2 */
  OP_ONCE = 32,        /* its outputs stay the same from step to step (VariableV2, VarHandleOp, queue handles): a plan
                          runs it once and keeps them */
  OP_BLOCKING = 64,    /* may hold its thread for long (functions, iterators): run on the blocking pool */
  OP_SHAPE_ONLY = 128, /* its outputs depend only on the shapes of its inputs */
  OP_TAKES = 256,      /* waits for what another op puts into a queue, an accumulator or a staging area, and takes it */
  OP_FORWARDS = 512,   /* hands on input 0 unchanged (Merge: one of its inputs): a handle can be traced through it */
  OP_UPDATES = 1024,   /* changes the variable that input 0 refers to */
  OP_STEP_OBJECT = 2048, /* reads or changes an object that lives for one step: a TensorArray, a stack */
};
/* What an op is to the graph and to the passes, where that is more than its kernel.  A Ref op has the kind of its twin. */
typedef enum op_kind {
  KIND_PLAIN,
  KIND_CONST,          /* its output is the attribute `value` */
  KIND_PLACEHOLDER,    /* its output must be fed */
  KIND_ARGUMENT,       /* its output is an argument of the function in whose body it is */
  KIND_IDENTITY,       /* its output is its input */
  KIND_VARIABLE,       /* its output refers to a variable */
  KIND_HANDLE,         /* its output is the handle of a variable */
  KIND_READ,           /* its output is the value of the variable that input 0 is the handle of */
  KIND_SUM,            /* its output is the sum of its inputs, which have one shape */
  KIND_ZEROS,          /* its output is zeros of its input's shape */
  KIND_NO_OP,          /* does nothing */
  KIND_ARRAY,          /* makes a TensorArray of the step, */
  KIND_ARRAY_GRADIENT, /* ... makes or finds the array of its gradients, */
  KIND_ARRAY_WRITE,    /* ... writes an element, */
  KIND_ARRAY_READ,     /* ... reads one, */
  KIND_ARRAY_SCATTER,  /* ... writes rows to elements, */
  KIND_ARRAY_GATHER,   /* ... reads elements as rows, */
  KIND_ARRAY_SIZE,     /* ... its output is how many elements it has */
  KIND_CLOSE,          /* lets go of the values of a TensorArray or a stack */
  KIND_STACK,          /* makes a stack of the step, */
  KIND_PUSH,           /* ... pushes a value on it */
  KIND_POP,            /* ... its output was pushed on it */
  KIND_SHAPE,          /* its output is its input's shape, */
  KIND_SHAPE_N,        /* ... its outputs are its inputs' shapes, */
  KIND_SIZE,           /* ... how many elements its input has, */
  KIND_RANK,           /* ... how many axes it has */
  KIND_SEND,           /* hands its input to another part of the step */
  KIND_RECV,           /* its output comes from another part of the step */
  KIND_SWITCH,         /* from here on control flow (OP_CONTROL_FLOW) */
  KIND_MERGE,
  KIND_ENTER,
  KIND_EXIT,
  KIND_NEXT_ITERATION,
  KIND_LOOP_COND,
  KIND_CONTROL_TRIGGER
} op_kind;
/* What automatic mixed precision may do with the op's float tensors (exec/passes/mixed_precision.h), as TensorFlow does. */
typedef enum op_amp {
  AMP_NONE,  /* they stay float, */
  AMP_ALLOW, /* become half, for this makes the op much faster, */
  AMP_INFER, /* become half between ops that do, unless they come from an AMP_DENY op, */
  AMP_DENY,  /* stay float, and so do those computed from them: half would lose too much, */
  AMP_CLEAR, /* become half where a neighbor's do: the op does not compute with them, or loses nothing */
} op_amp;
struct op {
  const char *def; /* opdef.h */
  const char *doc; /* one sentence */
  unsigned flags;
  weft_err (*infer)(infer *); /* required */
  weft_err (*cpu)(kernel *);  /* NULL: cannot be run (Placeholder) */
  /* Optional: makes k->state once for each plan; called with no inputs.  The attributes are read here. */
  weft_err (*prepare)(const weft_node *node, void **state);
  void (*unprepare)(void *state); /* frees it; required with prepare unless the state is NULL-only */
  weft_err (*grad)(backprop *);   /* NULL: see no_grad */
  bool no_grad; /* TF registers "not differentiable": the gradient stops silently.  With neither, asking is an error */
  op_kind kind;
  op_amp amp;
  known_rule *known; /* optional */
  /* Optional: its loops, when cpu is nothing but weft__elementwise over them without an argument (kernels/elementwise/elementwise.h).
   * Such ops may be fused into chains. */
  const struct elem_op *elem;
  const fusion *fusion; /* optional: how else a plan may run it together with its neighbors */
  /* Optional: cpu looks at no element, so it serves on every device.  The arguments it does look at, inputs and outputs,
   * are in host memory there: "shape axis"; "*": all; "": none; "elem?": if of int32 or bool, which TF keeps there. */
  const char *anywhere;
  const op_case *cases; /* NULL: the op is exercised by a scenario */
  /* In the row that ends a list, required where the list has no case: the tests that exercise its ops, as paths from the
   * root separated by spaces.  The battery fails unless they exist; tests/parity fails unless its own run those ops.
   * weft__op_table_create copies it to every row of the list. */
  const char *scenario;
  opdef opdef; /* filled in by weft__op_table_create */
};
#define OPS(stem) const op weft__ops_##stem[]

/* ---- the table ---- */
typedef struct op_table {
  map by_name; /* op name -> op */
  arena arena;
} op_table;
/* Parses every row of every list (each ended by a row with def NULL; lists ended by NULL).  INTERNAL if two
 * ops share a name or a definition does not parse. */
weft_err weft__op_table_create(op_table **out, const op *const *lists);
void weft__op_table_destroy(op_table *t);
const op *weft__op_find(const op_table *t, const char *name);

#endif
