/* op.h - one op: its definition, shape rule, kernel, gradient and cases, in one row of a table.
 *
 * A file ops/NAME.c ends in
 *     OPS(name) = {
 *       { "Softmax(logits:T) -> (softmax:T) | T:type{half,float}", "Normalized exponentials.",
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
  shape *out;         /* set by the rule; starts as unknown */
  weft_tensor **held; /* the values that weft__infer_value returned; the caller owns them */
} infer;
/* Returns the value of input i if it is known when the graph is built (usually a Const), or NULL.  It is borrowed
 * and valid until the rule returns. */
const weft_tensor *weft__infer_value(infer *s, int i);
/* Reads input i as a shape; unknown elements are -1.  The rank is unknown if nothing is known. */
weft_err weft__infer_shape_value(infer *s, int i, shape *out);
/* Checks the rank; fails with INVALID_ARGUMENT "Shape must be rank 2 but is rank 1 for 'fc1/MatMul' (op: 'MatMul')
 * ..." */
weft_err weft__infer_rank(infer *s, int i, int rank, shape *out);
weft_err weft__infer_rank_at_least(infer *s, int i, int rank);
/* Fails with op, node and input shapes appended to the message, as TF does. */
weft_err weft__infer_fail(infer *s, const char *fmt, ...) WEFT_PRINTF(2, 3);
#define weft__infer_fail(s, ...) (weft__infer_fail((s), __VA_ARGS__), weft__code(WEFT_INVALID_ARGUMENT))
/* Rules shared by many ops. */
weft_err weft__infer_same(infer *s);          /* out[0] = in[0] */
weft_err weft__infer_broadcast(infer *s);     /* out[0] = broadcast(in[0], in[1]) */
weft_err weft__infer_scalar(infer *s);        /* every output is a scalar */
weft_err weft__infer_attr_shape(infer *s);    /* output 0 has the shape of the attribute `shape` */
weft_err weft__infer_none(infer *s);          /* outputs stay unknown */
weft_err weft__infer_output_shapes(infer *s); /* from the attribute output_shapes, if it has any */
weft_err weft__infer_merge_all(infer *s);     /* out[0] = all inputs merged (as in AddN and Merge) */

/* Rules for integer vectors that are partly known when the graph is built, such as shapes with an unknown batch size
 * (graph/constant.c).  They set *out to the elements, with -1 for unknown ones, and return false if nothing is
 * known.  A `known_search` limits the number of nodes that are visited. */
typedef struct known_search known_search;
typedef bool known_rule(known_search *k, const weft_graph *g, weft_out o, shape *out);
known_rule weft__known_shape;  /* the shape of input o.slot: Shape, ShapeN */
known_rule weft__known_input;  /* the elements of input 0: Identity, Cast */
known_rule weft__known_pack;   /* one element per input, a scalar: Pack */
known_rule weft__known_concat; /* the elements of all inputs but the last, which is the axis: ConcatV2 */
known_rule weft__known_slice;  /* a range or one element of input 0: StridedSlice */

/* ---- gradients ---- */
typedef struct grad_value {              /* the gradient of one tensor: none, dense, or slices */
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
  weft_out *dout;     /* gradient of each output, dense; node < 0: none */
  grad_value *din;    /* set by the function; starts as GRAD_NONE */
  /* the gradient of output 0 if it is slices and the op has OP_TAKES_SLICES, else NULL; dout[0] is then unset */
  const grad_value *slices;
  const char *source; /* the name scope of this call of gradients, for TensorArrayGradV3's `source` */
} backprop;
/* Returns the gradient of output i, or zeros of its shape if there is none. */
weft_out weft__backprop_dout(backprop *b, int i);
/* For ops whose inputs get no gradient by TF's registered function: Floor, ArgMax. */
weft_err weft__backprop_none(backprop *b);

/* ---- cases: what the battery and the parity test run for an op ----
 * in:   inputs separated by ';', each "f32[2,3] 1 2 3 4 5 6".  Types: f16 bf16 f32 f64 i8..i64 u8..u64 bool str c64
 *       c128 qi8 qi16 qi32 qu8 qu16.  Values: numbers (true/false, "quoted" strings), the last one repeated; or a
 *       generator: rand (uniform -1..1, ints -5..5), pos (0.1..2), unit (0..1 exclusive), seq (0,1,2..),
 *       below:N (ints 0..N-1), normal.  "&f32[2] 1 2" is a variable with that value, for both reference and
 *       resource arguments; its value after the run is compared too.
 * attr: "axis=1 padding='SAME' strides=[1,2,2,1] T=float"; types follow from the inputs.
 * out:  expected outputs in the same notation, "error INVALID_ARGUMENT", or NULL: TensorFlow's result is expected.
 * Flags: the gradient is compared with finite differences unless CASE_NO_GRAD is set.  Of CASE_RANDOM outputs, only
 * the shape is checked here (parity compares the numbers).  CASE_FIXED_TYPE is not repeated with other types. */
enum { CASE_NO_GRAD = 1, CASE_RANDOM = 2, CASE_FIXED_TYPE = 4, CASE_NO_PARITY = 8 };
typedef struct op_case {
  const char *in, *out, *attr;
  int flags;
} op_case;

/* ---- the row ---- */
enum {
  OP_INPLACE = 1,      /* output 0 may overwrite input 0 (or 1), element by element */
  OP_CONTROL_FLOW = 2, /* Switch, Merge, ...: the dataflow executor handles it */
  OP_ASYNC = 4,        /* may complete later without holding a thread (queues, _Recv): plan_executor in exec/plan.h */
  OP_NO_FOLD = 8,      /* never folded (stateful ops never are) */
  OP_SEED = 16,        /* has the attributes seed and seed2 */
  /* its outputs are the same in every step (VariableV2, VarHandleOp, queue handles), so a plan runs it once and
   * keeps them */
  OP_ONCE = 32,
  OP_BLOCKING = 64,    /* may hold its thread while it waits (functions, iterators): not for borrowed threads */
  OP_SHAPE_ONLY = 128, /* its outputs depend only on the shapes of its inputs */
  OP_TAKES = 256,      /* waits for an element of a queue, an accumulator or a staging area, and takes it */
  OP_FORWARDS = 512, /* passes on input 0 unchanged (Merge: one of its inputs), so a handle can be traced through it */
  OP_UPDATES = 1024, /* changes the variable that input 0 refers to */
  OP_STEP_OBJECT = 2048,  /* reads or changes an object that lives for one step: a TensorArray, a stack */
  OP_TAKES_SLICES = 4096, /* its gradient function takes the gradient of output 0 as slices, in backprop.slices */
};
/* float8 and 4-bit integers.  Most definitions allow every type, and many kernels only copy bytes, so they would run
 * on these types too.  TensorFlow has kernels of few ops for them; a graph that runs here must run there. */
enum { NARROW_FLOAT8 = 1, NARROW_INT4 = 2, NARROW_ALL = NARROW_FLOAT8 | NARROW_INT4 };
/* The role of an op for the graph and the passes, if it has one besides its kernel.  A Ref op has the kind of the
 * other op. */
typedef enum op_kind {
  KIND_PLAIN,
  KIND_CONST,          /* its output is the attribute `value` */
  KIND_PLACEHOLDER,    /* its output must be fed */
  KIND_ARGUMENT,       /* its output is an argument of the enclosing function */
  KIND_IDENTITY,       /* its output is its input */
  KIND_VARIABLE,       /* its output refers to a variable */
  KIND_HANDLE,         /* its output is the handle of a variable */
  KIND_READ,           /* its output is the value of the variable whose handle is input 0 */
  KIND_SUM,            /* its output is the sum of its inputs, which have the same shape */
  KIND_ZEROS,          /* its output is zeros of the shape of its input */
  KIND_NO_OP,          /* does nothing */
  KIND_ARRAY,          /* creates a TensorArray of the step */
  KIND_ARRAY_GRADIENT, /* creates or finds the TensorArray of a TensorArray's gradients */
  KIND_ARRAY_WRITE,    /* writes one element of a TensorArray */
  KIND_ARRAY_READ,     /* reads one element of a TensorArray */
  KIND_ARRAY_SCATTER,  /* writes the rows of its input to the elements of a TensorArray */
  KIND_ARRAY_GATHER,   /* reads elements of a TensorArray as the rows of its output */
  KIND_ARRAY_SIZE,     /* its output is the number of elements of a TensorArray */
  KIND_CLOSE,          /* releases the values of a TensorArray or a stack */
  KIND_STACK,          /* creates a stack of the step */
  KIND_PUSH,           /* pushes a value on a stack of the step */
  KIND_POP,            /* its output is popped from a stack of the step */
  KIND_SHAPE,          /* its output is the shape of its input */
  KIND_SHAPE_N,        /* its outputs are the shapes of its inputs */
  KIND_SIZE,           /* its output is the number of elements of its input */
  KIND_RANK,           /* its output is the rank of its input */
  KIND_SEND,           /* sends its input to another part of the step */
  KIND_RECV,           /* its output is received from another part of the step */
  KIND_SWITCH,         /* the following kinds are control flow (OP_CONTROL_FLOW) */
  KIND_MERGE,
  KIND_ENTER,
  KIND_EXIT,
  KIND_NEXT_ITERATION,
  KIND_LOOP_COND,
  KIND_CONTROL_TRIGGER
} op_kind;
/* How automatic mixed precision treats the op's float tensors (exec/passes/mixed_precision.h), as in TensorFlow. */
typedef enum op_amp {
  AMP_NONE,  /* they stay float */
  AMP_ALLOW, /* they become half, because this makes the op much faster */
  AMP_INFER, /* they become half between such ops, unless they come from an AMP_DENY op */
  AMP_DENY,  /* they stay float, and so do tensors computed from them: half would lose too much precision */
  AMP_CLEAR, /* they become half if a neighbor's do: the op does not compute with them, or loses no precision */
} op_amp;
struct op {
  const char *def; /* opdef.h */
  const char *doc; /* one sentence */
  unsigned flags;
  weft_err (*infer)(infer *); /* required */
  weft_err (*cpu)(kernel *);  /* NULL: cannot be run (Placeholder) */
  /* Optional: creates k->state, once for each plan.  It has no inputs and reads the attributes. */
  weft_err (*prepare)(const weft_node *node, void **state);
  void (*unprepare)(void *state); /* frees the state; required with prepare unless the state is always NULL */
  weft_err (*grad)(backprop *);   /* NULL: see no_grad */
  bool no_grad; /* TF registers "not differentiable": the gradient ends silently.  With neither, it is an error */
  op_kind kind;
  op_amp amp;
  unsigned
      narrow; /* the NARROW_* types that it runs on (tests/parity/test_narrow_types.py); ops named _... need none */
  known_rule *known; /* optional */
  /* Optional: the op's loops, if cpu only calls weft__elementwise on them without an argument
   * (kernels/elementwise/elementwise.h).  Such ops can be fused into chains. */
  const struct elem_op *elem;
  const fusion *fusion; /* optional: other ways to fuse it with its neighbors */
  /* Optional: cpu reads no element of its device tensors, so it works on every device.  The arguments (inputs and
   * outputs) that it does read or write are in host memory: "shape axis"; "*": all; "": none; "elem?": if it is
   * int32 or bool, which TF keeps there. */
  const char *anywhere;
  const op_case *cases; /* NULL: scenario tests run the op */
  /* In the row that ends a list; required if the list has no case: the tests that run its ops, as paths from the root,
   * separated by spaces.  The battery fails unless they exist, and tests/parity fails unless its own tests run those
   * ops. weft__op_table_create copies it to every row of the list that has none; a row has one of its own if other
   * tests run it. */
  const char *scenario;
  opdef opdef; /* set by weft__op_table_create */
};
#define OPS(stem) const op weft__ops_##stem[]

/* ---- the table ---- */
typedef struct op_table {
  map by_name; /* op name -> op */
  arena arena;
} op_table;
/* Parses every row of every list (a row with def NULL ends a list; NULL ends the lists).  Returns INTERNAL if two
 * ops have the same name or a definition is invalid. */
weft_err weft__op_table_create(op_table **out, const op *const *lists);
void weft__op_table_destroy(op_table *t);
const op *weft__op_find(const op_table *t, const char *name);

#endif
