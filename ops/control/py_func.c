/* py_func.c - PyFunc, EagerPyFunc: a step calls a function of the program.
 *
 * A node has a token, and the front end of the program finds the function by the token.  One callback serves the
 * whole process, because a token has no meaning outside its process. */
#include "ops/control/py_func.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include <pthread.h>

static struct {
  pthread_mutex_t lock;
  weft_call_fn *fn;
  void *arg;
} program = {.lock = PTHREAD_MUTEX_INITIALIZER};

void weft__call_set(weft_call_fn *fn, void *arg) {
  pthread_mutex_lock(&program.lock);
  program.fn = fn;
  program.arg = arg;
  pthread_mutex_unlock(&program.lock);
}

static weft_err py_func_check_type(const kernel *k, int i, const weft_tensor *t) {
  weft_dtype want = weft__dtype_base(k->node->out_type[i]);
  if (!t) return weft__kernel_fail(k, WEFT_INTERNAL, "the function gave no result %d", i);
  if (t->dtype == want) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%d-th value returned by the function is %s, but expects %s", i,
                           weft__dtype_name(t->dtype), weft__dtype_name(want));
}

static weft_err py_func_cpu(kernel *k) {
  weft_tensor *made[64] = {0};
  pthread_mutex_lock(&program.lock);
  weft_call_fn *fn = program.fn;
  void *arg = program.arg;
  pthread_mutex_unlock(&program.lock);
  if (!fn) return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "this program calls no functions of another language");
  if (k->n_out > (int)(sizeof made / sizeof made[0]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a function has %d results, at most 64 are possible", k->n_out);
  weft_err err = fn(arg, weft__node_str(k->node, "token").data, k->n_in, k->in, k->n_out, made);
  if (err) err = weft__kernel_in(k, err);
  for (int i = 0; !err && i < k->n_out; i++) {
    err = py_func_check_type(k, i, made[i]);
    if (!err) err = weft__out_share(k, i, made[i]);
  }
  for (int i = 0; i < k->n_out; i++) weft_tensor_destroy(made[i]);
  return err;
}

OPS(py_func) = {
    {"PyFunc(input:@Tin) -> (output:@Tout) | token:string Tin:list(type)>=0 Tout:list(type)>=0 ; stateful",
     "What the program's function called `token` makes of the inputs.", .infer = weft__infer_none, .cpu = py_func_cpu,
     .no_grad = true},
    {"PyFuncStateless(input:@Tin) -> (output:@Tout) | token:string Tin:list(type)>=0 Tout:list(type)>=0",
     "As PyFunc, for a function that always gives the same.", .infer = weft__infer_none, .cpu = py_func_cpu,
     .no_grad = true},
    {"EagerPyFunc(input:@Tin) -> (output:@Tout) | token:string is_async:bool=false Tin:list(type)>=0 "
     "Tout:list(type)>=0 "
     "; stateful",
     "As PyFunc, for a function whose gradient the program's front end knows.", .infer = weft__infer_none,
     .cpu = py_func_cpu},
    {.scenario = "tests/parity/test_py_func.py"},
};
