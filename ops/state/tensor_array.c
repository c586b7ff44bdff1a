/* tensor_array.c - the ops of tensor arrays, with the three kinds of handles that TensorFlow has had.
 *
 * V3 has resource handles.  V2 has strings {container, name}, and V1 has references to such strings; both are looked
 * up among the objects of the step.  The flow values carry no data and only order the ops.  On a GPU the elements of
 * an array are in the GPU's memory, except for int32 and bool, which are in host memory. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/build.h"
#include "kernels/array/strided_copy.h"
#include "kernels/gpu/gpu_host.h"
#include "state/combine.h"
#include "state/step_objects.h"
#include "state/tensor_array.h"
#include "state/variable.h"
#include <stdio.h>

#define CONTAINER "_tensor_arrays"

/* ---- handles ---- */

static weft_err find_by_name(const kernel *k, const weft_tensor *t, tensor_array **out) {
  const str *s = TENSOR_DATA(t, str);
  if (t->dtype != WEFT_STRING || weft__tensor_count(t) != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Tensor array handle must be 2-element vector, but had shape: %s",
                             weft__shape_text(&t->shape));
  char *name = weft__strndup(s[1].size ? s[1].data : "", s[1].size);
  if (!name) return WEFT_OOM;
  weft_err err = weft__step_object_find(k, TENSOR_ARRAY_TYPE, name, (resource **)out);
  weft__free(name);
  return err;
}

/* Finds the array of argument 0.  The kernel borrows it. */
static weft_err tensor_array_find(const kernel *k, tensor_array **out) {
  if (!k->ref[0] && k->in[0]->dtype == WEFT_RESOURCE)
    return weft__kernel_in(k, weft__handle_get(k->in[0], TENSOR_ARRAY_TYPE, (resource **)out));
  if (!k->ref[0]) return find_by_name(k, k->in[0], out);
  weft_tensor t = {0};
  WEFT_TRY(weft__variable_read(k->ref[0], &t));
  weft_err err = find_by_name(k, &t, out);
  weft__tensor_clear(&t);
  return err;
}

static weft_err set_strings(weft_tensor *t, const char *name) {
  WEFT_TRY(weft__str_set(&TENSOR_DATA(t, str)[0], CONTAINER, strlen(CONTAINER)));
  return weft__str_set(&TENSOR_DATA(t, str)[1], name, strlen(name));
}

/* Makes output 0 a reference to the strings {container, name}.  The step owns the variable that holds them. */
static weft_err out_reference(kernel *k, const char *name) {
  weft_tensor t = {0};
  variable *v = NULL;
  weft_err err = weft__tensor_init(&t, WEFT_STRING, &SHAPE1(2));
  if (err == WEFT_OK) err = set_strings(&t, name);
  if (err == WEFT_OK) err = weft__variable_create(&v, WEFT_STRING, &SHAPE1(2), name);
  if (err == WEFT_OK) err = weft__variable_assign(v, &t);
  weft__tensor_clear(&t);
  if (err != WEFT_OK) {
    weft__object_release((object *)v);
    return err;
  }
  WEFT_TRY(weft__step_object_add(k, "handle", (resource *)v, NULL));
  weft__out_ref(k, 0, v);
  return WEFT_OK;
}

/* Makes output 0 the handle of a.  For V1 and V2, `name` is the name that the step knows the array by. */
static weft_err out_handle(kernel *k, tensor_array *a, const char *name) {
  if ((int)k->node->out_type[0] > WEFT_REF_BASE) return out_reference(k, name);
  if (k->node->out_type[0] == WEFT_STRING) {
    weft_tensor *t = weft__out(k, 0, &SHAPE1(2));
    return t ? set_strings(t, name) : WEFT_OOM;
  }
  weft_tensor *h = NULL;
  WEFT_TRY(weft__handle_create(&h, CONTAINER, name, (resource *)a));
  weft_err err = weft__out_share(k, 0, h);
  weft_tensor_destroy(h);
  return err;
}

/* Starts a new flow as output 1, if the node has that output. */
static weft_err begin_flow(kernel *k) {
  if (k->n_out < 2) return WEFT_OK;
  weft_tensor *t = weft__out(k, 1, &SHAPE_SCALAR);
  return t ? weft__strided_zero(k, t) : WEFT_OOM;
}

/* Passes the last input, a flow, on as output i. */
static weft_err pass_flow(kernel *k, int i) {
  WEFT_ASSERT(k->n_in > 0);
  const int last = k->n_in - 1;
  return i < k->n_out ? weft__forward(k, i, last, &k->in[last]->shape) : WEFT_OK;
}

/* ---- elements, in the memory of the kernel's device or in the host's ---- */

static weft_err zero_there(void *arg, weft_tensor *t) { return weft__strided_zero(arg, t); }

static weft_err add_there(void *arg, weft_tensor *to, const weft_tensor *x, const weft_tensor *y) {
  gpu_adder *adder = weft__gpu_adder();
  const int64_t n = weft__tensor_count(x);
  if (adder) return adder(arg, x->dtype, to->data, x->data, y->data, n);
  /* the GPU is simulated, so its memory is host memory */
  weft__combine(COMBINE_ADD, x->dtype, to->data, x->data, y->data, 1, n);
  return WEFT_OK;
}

static weft_err write_element(kernel *k, tensor_array *a, int64_t i, const weft_tensor *t) {
  WEFT_ASSERT(t->buf);
  const tensor_array_ops there = {k, t->buf->memory, zero_there, add_there};
  return weft__kernel_in(k, weft__tensor_array_write(a, i, t, there.memory ? &there : NULL));
}

/* Reads element i.  The elements and the node's output are in the same memory. */
static weft_err read_element(kernel *k, tensor_array *a, int64_t i, weft_tensor *out) {
  const weft_dtype type = k->node->out_type[0];
  const bool on_device = k->device && !(k->host_out & 1) && weft__dtype_is_plain(type);
  const tensor_array_ops there = {k, on_device ? &k->device->memory : NULL, zero_there, add_there};
  return weft__kernel_in(k, weft__tensor_array_read(a, type, i, out, on_device ? &there : NULL));
}

static weft_err copy_elements(kernel *k, const memory_space *memory, weft_dtype type, void *to, const void *from,
                              int64_t n) {
  if (!memory) return weft__elements_copy(type, to, from, n);
  strided_copy run = {.rank = 0};
  weft__strided_copy_axis(&run, n, 1, 1);
  return weft__strided_copy_run(k, type, to, from, &run);
}

/* ---- making ---- */

static shape attr_shape(const weft_node *n, const char *name) {
  const attr *a = weft__node_attr(n, name);
  return a && a->kind == ATTR_SHAPE && !a->is_list ? *a->shape : SHAPE_UNKNOWN;
}

static void array_end(object *o) { weft__tensor_array_close((tensor_array *)o); }

static weft_err array_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "size"));
  tensor_array_spec spec = {.dtype = weft__node_type(k->node, "dtype"),
                            .element = attr_shape(k->node, "element_shape"),
                            .size = weft__tensor_int(k->in[0], 0),
                            .dynamic = weft__node_bool(k->node, "dynamic_size", false),
                            .clear_after_read = weft__node_bool(k->node, "clear_after_read", true),
                            .identical = weft__node_bool(k->node, "identical_element_shapes", false)};
  attr_str given = weft__node_str(k->node, "tensor_array_name");
  const char *name = given.size ? given.data : k->node->name;
  tensor_array *a = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_create(&a, &spec, name)));
  weft_err err;
  if (k->node->out_type[0] == WEFT_RESOURCE) { /* the handle owns the array */
    err = out_handle(k, a, name);
    /* the array might contain its own handle */
    if (!err && (spec.dtype == WEFT_RESOURCE || spec.dtype == WEFT_VARIANT))
      err = weft__step_object_on_end(k, (object *)a, array_end);
    weft__object_release((object *)a);
  } else {
    err = weft__step_object_add(k, name, (resource *)a, &name);
    if (err == WEFT_OK) err = out_handle(k, a, name);
  }
  return err == WEFT_OK ? begin_flow(k) : err;
}

/* Names the gradient array of V1 and V2: an object of the step called ARRAY@SOURCE. */
static weft_err name_gradient(kernel *k, tensor_array *g, char **out) {
  weft_tensor t = {0};
  if (k->ref[0])
    WEFT_TRY(weft__variable_read(k->ref[0], &t));
  else
    weft__tensor_share(&t, k->in[0]);
  const str *s = TENSOR_DATA(&t, str);
  *out = weft__sprintf("%.*s@%s", weft__int_sat(s[1].size), s[1].data, weft__node_str(k->node, "source").data);
  weft__tensor_clear(&t);
  if (!*out) return WEFT_OOM;
  weft__object_retain((object *)g);
  return weft__step_object_share(k, *out, (resource *)g);
}

static weft_err gradient_out(kernel *k, const shape *prepend) {
  tensor_array *a = NULL, *g = NULL;
  char *name = NULL;
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_gradient(a, weft__node_str(k->node, "source").data, prepend, &g)));
  weft_err err = k->node->out_type[0] == WEFT_RESOURCE ? WEFT_OK : name_gradient(k, g, &name);
  if (err == WEFT_OK) err = out_handle(k, g, name ? name : weft__node_str(k->node, "source").data);
  weft__free(name);
  return err == WEFT_OK && k->n_out > 1 ? weft__forward(k, 1, 1, &k->in[1]->shape) : err;
}

static weft_err gradient_cpu(kernel *k) { return gradient_out(k, NULL); }

static weft_err gradient_with_shape_cpu(kernel *k) {
  shape prepend = SHAPE_SCALAR;
  WEFT_TRY(weft__kernel_ints(k, 2, "shape_to_prepend", prepend.dim, &prepend.rank));
  return gradient_out(k, &prepend);
}

/* ---- one element ---- */

static weft_err write_cpu(kernel *k) {
  tensor_array *a = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "index"));
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(write_element(k, a, weft__tensor_int(k->in[1], 0), k->in[2]));
  return pass_flow(k, 0);
}

static weft_err tensor_array_read_cpu(kernel *k) {
  tensor_array *a = NULL;
  weft_tensor t = {0};
  WEFT_TRY(weft__kernel_scalar(k, 1, "index"));
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(read_element(k, a, weft__tensor_int(k->in[1], 0), &t));
  weft_err err = weft__out_share(k, 0, &t);
  weft__tensor_clear(&t);
  return err;
}

static weft_err tensor_array_size_cpu(kernel *k) {
  tensor_array *a = NULL;
  int64_t size = 0;
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_size(a, &size, NULL)));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = (int32_t)size;
  return WEFT_OK;
}

static weft_err tensor_array_close_cpu(kernel *k) {
  tensor_array *a = NULL;
  WEFT_TRY(tensor_array_find(k, &a));
  weft__tensor_array_close(a);
  return WEFT_OK;
}

/* ---- many elements out ---- */

typedef struct elements {
  weft_tensor *t;
  int64_t n;
} elements;

static void elements_finish(elements *e) {
  for (int64_t i = 0; i < e->n; i++) weft__tensor_clear(&e->t[i]);
  weft__free(e->t);
}

/* Reads the elements index[0..n), or 0..n if index is NULL. */
static weft_err read_many(kernel *k, tensor_array *a, int64_t n, const weft_tensor *index, elements *out) {
  WEFT_ASSERT(n >= 0 && (!index || weft__tensor_count(index) == n));
  *out = (elements){weft__alloc_zero((size_t)n + 1, sizeof(weft_tensor)), 0};
  if (!out->t) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = index ? weft__tensor_int(index, i) : i;
    WEFT_TRY(read_element(k, a, at, &out->t[i]));
    out->n = i + 1;
  }
  return WEFT_OK;
}

/* Finds the shape of an element if the array has no element that shows it. */
static weft_err empty_shape(kernel *k, tensor_array *a, const char *attr_name, bool except_first, shape *out) {
  shape given = attr_shape(k->node, attr_name), own = weft__tensor_array_element(a);
  if (except_first && own.rank > 0) {
    own.rank--;
    memmove(own.dim, own.dim + 1, (size_t)own.rank * sizeof *own.dim);
  }
  if (weft__shape_merge(out, &given, &own) == WEFT_OK && weft__shape_known(out)) return WEFT_OK;
  return weft__kernel_fail(
      k, WEFT_UNIMPLEMENTED,
      "TensorArray has size zero, but element shape %s is not fully defined. Currently only static "
      "shapes are supported when packing zero-size TensorArrays.",
      weft__shape_text(&given));
}

static weft_err tensor_array_pack(kernel *k, const elements *e, const shape *one) {
  WEFT_ASSERT(weft__shape_known(one));
  shape all = {one->rank + 1, {e->n}};
  if (all.rank > WEFT_MAX_RANK) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "rank %d is too high", all.rank);
  memcpy(all.dim + 1, one->dim, (size_t)one->rank * sizeof *one->dim);
  weft_tensor *out = weft__out(k, 0, &all);
  if (!out) return weft__out_refused(&all);
  int64_t count = weft__shape_count(one);
  size_t step_bytes = (size_t)count * weft__dtype_size(out->dtype);
  for (int64_t i = 0; i < e->n; i++)
    WEFT_TRY(copy_elements(k, out->buf->memory, out->dtype, (char *)out->data + (size_t)i * step_bytes, e->t[i].data,
                           count));
  return WEFT_OK;
}

static weft_err gather_elements(kernel *k, tensor_array *a, int64_t n, const weft_tensor *index) {
  elements e;
  shape one;
  weft_err err = read_many(k, a, n, index, &e);
  if (err == WEFT_OK && !n) err = empty_shape(k, a, "element_shape", false, &one);
  if (err == WEFT_OK && n) one = e.t[0].shape;
  for (int64_t i = 1; err == WEFT_OK && i < n; i++)
    if (!weft__shape_equal(&one, &e.t[i].shape))
      err =
          weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                            "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %lld has shape: %s",
                            weft__shape_text(&one), (long long)i, weft__shape_text(&e.t[i].shape));
  shape want = attr_shape(k->node, "element_shape");
  if (err == WEFT_OK && !weft__shape_compatible(&want, &one))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                            "TensorArray was passed element_shape %s which does not match the "
                            "Tensor at index 0: %s",
                            weft__shape_text(&want), weft__shape_text(&one));
  if (err == WEFT_OK) err = tensor_array_pack(k, &e, &one);
  elements_finish(&e);
  return err;
}

static weft_err tensor_array_gather_cpu(kernel *k) {
  tensor_array *a = NULL;
  if (k->in[1]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected indices to be a vector, but received shape: %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(tensor_array_find(k, &a));
  return gather_elements(k, a, weft__tensor_count(k->in[1]), k->in[1]);
}

static weft_err pack_cpu(kernel *k) {
  tensor_array *a = NULL;
  int64_t n = 0;
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_size(a, &n, NULL)));
  return gather_elements(k, a, n, NULL);
}

/* Checks that all elements have the same shape after the first axis, and sets *all to the shape of their
 * concatenation. */
static weft_err tensor_array_concat_shape(kernel *k, const elements *e, shape *all) {
  for (int64_t i = 0; i < e->n; i++) {
    shape here = e->t[i].shape;
    if (here.rank < 1)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Concat saw a scalar shape at index %lld but requires at least vectors.  Did you mean to "
          "call pack?",
          (long long)i);
    if (!i) {
      *all = here;
      continue;
    }
    shape first = e->t[0].shape;
    first.dim[0] = here.dim[0];
    if (!weft__shape_equal(&first, &here))
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: %s but "
          "index %lld has (excepting dimension 0) shape: %s",
          weft__shape_text(&e->t[0].shape), (long long)i, weft__shape_text(&here));
    all->dim[0] += here.dim[0];
  }
  return WEFT_OK;
}

static weft_err concat_out(kernel *k, const elements *e, const shape *all) {
  weft_tensor *out = weft__out(k, 0, all), *lengths = weft__out(k, 1, &SHAPE1(e->n));
  if (!out || !lengths) return weft__out_refused(all);
  char *to = out->data;
  for (int64_t i = 0; i < e->n; i++) {
    int64_t count = weft__tensor_count(&e->t[i]);
    TENSOR_DATA(lengths, int64_t)[i] = e->t[i].shape.dim[0];
    WEFT_TRY(copy_elements(k, out->buf->memory, out->dtype, to, e->t[i].data, count));
    to += (size_t)count * weft__dtype_size(out->dtype);
  }
  return WEFT_OK;
}

static weft_err tensor_array_concat_cpu(kernel *k) {
  tensor_array *a = NULL;
  elements e;
  shape all = SHAPE_UNKNOWN;
  int64_t n = 0;
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_size(a, &n, NULL)));
  weft_err err = read_many(k, a, n, NULL, &e);
  if (err == WEFT_OK && n) err = tensor_array_concat_shape(k, &e, &all);
  if (err == WEFT_OK && !n) {
    err = empty_shape(k, a, "element_shape_except0", true, &all);
    if (err == WEFT_OK) {
      memmove(all.dim + 1, all.dim, (size_t)all.rank * sizeof *all.dim);
      all.dim[0] = 0;
      all.rank++;
    }
  }
  if (err == WEFT_OK) err = concat_out(k, &e, &all);
  elements_finish(&e);
  return err;
}

/* ---- many elements in ---- */

/* Writes rows [from, from + rows) of a value to element i.  If rows < 0, writes one row without its first axis. */
static weft_err tensor_array_write_rows(kernel *k, tensor_array *a, int64_t i, const weft_tensor *value_, int64_t from,
                                        int64_t rows) {
  WEFT_ASSERT(value_->shape.rank >= 1 && from >= 0 && from + (rows < 0 ? 1 : rows) <= value_->shape.dim[0]);
  weft_tensor part = {0};
  memory_space *memory = value_->buf->memory;
  shape of = value_->shape;
  int64_t each = weft__shape_product(&of, 1, of.rank);
  if (rows < 0) {
    of.rank--;
    memmove(of.dim, of.dim + 1, (size_t)of.rank * sizeof *of.dim);
  } else {
    of.dim[0] = rows;
  }
  WEFT_TRY(weft__tensor_init_in(&part, memory, value_->dtype, &of));
  const char *src = (const char *)value_->data + (size_t)(from * each) * weft__dtype_size(value_->dtype);
  weft_err err = copy_elements(k, memory, value_->dtype, part.data, src, each * (rows < 0 ? 1 : rows));
  if (err == WEFT_OK) err = write_element(k, a, i, &part);
  weft__tensor_clear(&part);
  return err;
}

static weft_err tensor_array_scatter_cpu(kernel *k) {
  tensor_array *a = NULL;
  const weft_tensor *index = k->in[1], *rows = k->in[2];
  int64_t size = 0, n = weft__tensor_count(index);
  bool dynamic;
  if (index->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected indices to be a vector, but received shape: %s",
                             weft__shape_text(&index->shape));
  if (rows->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input value for unpack must be at least a vector but received shape: %s",
                             weft__shape_text(&rows->shape));
  if (rows->shape.dim[0] != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Expected len(indices) == values.shape[0], but saw: %lld vs. %lld", (long long)n,
                             (long long)rows->shape.dim[0]);
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_size(a, &size, &dynamic)));
  for (int64_t i = 0; i < n && !dynamic; i++)
    if (weft__tensor_int(index, i) >= size)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Max scatter index must be < array size (%lld vs. %lld)",
                               (long long)weft__tensor_int(index, i), (long long)size);
  for (int64_t i = 0; i < n; i++) WEFT_TRY(tensor_array_write_rows(k, a, weft__tensor_int(index, i), rows, i, -1));
  return pass_flow(k, 0);
}

static weft_err tensor_array_check_count(kernel *k, tensor_array *a, int64_t n, const char *of) {
  int64_t size = 0;
  bool dynamic;
  WEFT_TRY(weft__kernel_in(k, weft__tensor_array_size(a, &size, &dynamic)));
  if (dynamic || size == n) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "TensorArray's size is not equal to the size of %s (%lld vs. %lld), and the TensorArray is "
                           "not marked as dynamically resizeable",
                           of, (long long)size, (long long)n);
}

static weft_err unpack_cpu(kernel *k) {
  tensor_array *a = NULL;
  if (k->in[1]->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input value for unpack must be at least a vector but received shape: %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(tensor_array_check_count(k, a, k->in[1]->shape.dim[0], "the input"));
  for (int64_t i = 0; i < k->in[1]->shape.dim[0]; i++) WEFT_TRY(tensor_array_write_rows(k, a, i, k->in[1], i, -1));
  return pass_flow(k, 0);
}

static weft_err check_lengths(kernel *k, const weft_tensor *rows, const weft_tensor *lengths) {
  int64_t sum = 0;
  if (lengths->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected lengths to be a vector, received shape: %s",
                             weft__shape_text(&lengths->shape));
  if (rows->shape.rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected value to be at least a vector, but received shape: %s",
                             weft__shape_text(&rows->shape));
  for (int64_t i = 0; i < weft__tensor_count(lengths); i++) {
    int64_t n = TENSOR_DATA(lengths, int64_t)[i];
    if (n < 0 || n > INT64_MAX - sum)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid value in lengths: %lld", (long long)n);
    sum += n;
  }
  if (sum == rows->shape.dim[0]) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %lld and "
                           "value's shape is: %s",
                           (long long)sum, weft__shape_text(&rows->shape));
}

static weft_err tensor_array_split_cpu(kernel *k) {
  tensor_array *a = NULL;
  const weft_tensor *rows = k->in[1], *lengths = k->in[2];
  int64_t n = weft__tensor_count(lengths), from = 0;
  WEFT_TRY(check_lengths(k, rows, lengths));
  WEFT_TRY(tensor_array_find(k, &a));
  WEFT_TRY(tensor_array_check_count(k, a, n, "lengths"));
  for (int64_t i = 0; i < n; i++) {
    int64_t count = TENSOR_DATA(lengths, int64_t)[i];
    WEFT_TRY(tensor_array_write_rows(k, a, i, rows, from, count));
    from += count;
  }
  return pass_flow(k, 0);
}

/* ---- shape rules ---- */

static weft_err tensor_array_handle_infer(infer *s) {
  s->out[0] = s->node->out_type[0] == WEFT_RESOURCE ? SHAPE_SCALAR : SHAPE1(2);
  if (s->n_out > 1) s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* Returns the element shape that the node of the array declares, if all elements must have it. */
static shape element_shape(const infer *s) {
  const weft_node *n = weft__handle_origin(s->graph, s->node->in[0]);
  while (n && !strncmp(n->op_name, "TensorArrayGrad", 15)) n = weft__handle_origin(s->graph, n->in[0]);
  if (!n || strcmp(n->op_name, "TensorArrayV3") != 0) return SHAPE_UNKNOWN;
  shape of = attr_shape(n, "element_shape");
  return weft__node_bool(n, "identical_element_shapes", false) || weft__shape_known(&of) ? of : SHAPE_UNKNOWN;
}

static weft_err tensor_array_read_infer(infer *s) {
  s->out[0] = element_shape(s);
  return WEFT_OK;
}

static weft_err tensor_array_gather_infer(infer *s) {
  shape given = attr_shape(s->node, "element_shape"), own = element_shape(s), one;
  if (weft__shape_merge(&one, &given, &own) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  if (one.rank < 0 || one.rank >= WEFT_MAX_RANK) return WEFT_OK;
  bool packs = s->n_in == 2;
  s->out[0] = (shape){one.rank + 1, {packs || s->in[1].rank != 1 ? -1 : s->in[1].dim[0]}};
  memcpy(s->out[0].dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
  return WEFT_OK;
}

static weft_err tensor_array_concat_infer(infer *s) {
  s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

/* ---- gradients: they go through the gradient array that TensorArrayGrad creates ---- */

/* Finds the name of the gradient array.  TF names it after the scope of the call that created it: the path up to the
 * last "gradients...". */
static void gradient_source(const weft_graph *g, weft_out d, char *to, size_t size) {
  const char *name = weft__node(g, d.node)->name, *end = NULL;
  for (const char *p = name; p; p = strchr(p, '/')) {
    if (*p == '/') p++;
    if (!strncmp(p, "gradients", 9)) end = p + strcspn(p, "/");
  }
  size_t n = end ? (size_t)(end - name) : 0;
  if (n >= size) n = size - 1;
  memcpy(to, end ? name : "gradients", end ? n : sizeof "gradients");
  if (end) to[n] = 0;
}

typedef struct gradient_array {
  weft_out handle, flow;
} gradient_array;

/* Returns "V3", "V2" or "".  The gradient must use ops of the same version, because the handle types differ. */
static const char *version_of(const backprop *b) {
  const char *name = b->node->op_name;
  const size_t n = strlen(name);
  return name[n - 2] == 'V' ? name + n - 2 : "";
}

static weft_out array_node(backprop *b, const char *stem, int n_in, const weft_out *in, int n_attr, const attr *attrs) {
  char type[64];
  snprintf(type, sizeof type, "%s%s", stem, version_of(b));
  return weft__b_node(b->graph, type, NULL, n_in, in, n_attr, attrs);
}

/* Opens the gradient array.  Only TensorArrayGradV3 returns a flow; for V1 and V2 a node with a control edge from
 * the array supplies it. */
static gradient_array open_gradient(backprop *b, weft_out flow, weft_out named_by) {
  char source[256];
  gradient_source(b->graph, named_by, source, sizeof source);
  weft_out in[2] = {b->in[0], flow};
  weft_out g = array_node(b, "TensorArrayGrad", 2, in, 1, (attr[]){A_STR("source", source)});
  if (!strcmp(version_of(b), "V3")) return (gradient_array){g, weft__b_slot(g, 1)};
  if (g.node < 0) return (gradient_array){g, g};
  return (gradient_array){
      g,
      weft__b_add_node(
          b->graph,
          &(node_spec){
              .op = "Identity", .name = "gradient_flow", .n_in = 1, .in = &flow, .n_control = 1, .control = &g.node})};
}

/* Fails, because the gradient of a gradient would end here without a word: TensorFlow's graph has an Identity with the
 * flow at this place, and its second gradient fails too, at the loop behind it or when it runs. */
static weft_err second_grad(backprop *b) {
  return weft__fail_fact(
      WEFT_UNIMPLEMENTED, WEFT_FACT_LOOP_GRADIENT,
      "Second-order gradient for while loops not supported: '%s' holds the gradients of a TensorArray", b->node->name);
}

static attr of_type(const char *name, const backprop *b, int in) {
  return A_TYPE(name, weft__out_type(b->graph, b->in[in]));
}

static weft_err read_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->in[2], b->dout[0]);
  weft_out in[4] = {g.handle, b->in[1], b->dout[0], g.flow};
  b->din[2] = GRAD_DENSE(array_node(b, "TensorArrayWrite", 4, in, 0, NULL));
  return WEFT_OK;
}

static weft_err write_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->dout[0], b->dout[0]);
  weft_out in[3] = {g.handle, b->in[1], g.flow};
  attr type = of_type("dtype", b, 2);
  b->din[2] = GRAD_DENSE(array_node(b, "TensorArrayRead", 3, in, 1, &type));
  b->din[3] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err tensor_array_gather_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->in[2], b->dout[0]);
  weft_out in[4] = {g.handle, b->in[1], b->dout[0], g.flow};
  b->din[2] = GRAD_DENSE(array_node(b, "TensorArrayScatter", 4, in, 0, NULL));
  return WEFT_OK;
}

static weft_err tensor_array_scatter_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->dout[0], b->dout[0]);
  weft_out in[3] = {g.handle, b->in[1], g.flow};
  attr type = of_type("dtype", b, 2);
  b->din[2] = GRAD_DENSE(array_node(b, "TensorArrayGather", 3, in, 1, &type));
  b->din[3] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err tensor_array_concat_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->in[1], b->dout[0]);
  weft_out in[4] = {g.handle, b->dout[0], b->out[1], g.flow};
  b->din[1] = GRAD_DENSE(array_node(b, "TensorArraySplit", 4, in, 0, NULL));
  return WEFT_OK;
}

static weft_err tensor_array_split_grad(backprop *b) {
  gradient_array g = open_gradient(b, b->dout[0], b->dout[0]);
  weft_out in[2] = {g.handle, g.flow};
  attr type = of_type("dtype", b, 1);
  b->din[1] = GRAD_DENSE(array_node(b, "TensorArrayConcat", 2, in, 1, &type));
  b->din[3] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

/* ---- table ---- */

#define ASKS(NAME, ARGS, RESULT, ATTRS, DOC, INFER, FN, HOST, ...)                                                     \
  {NAME "V3(handle:resource" ARGS ") -> (" RESULT ")" ATTRS " ; stateful",                                             \
   DOC,                                                                                                                \
   .flags = OP_STEP_OBJECT,                                                                                            \
   .infer = INFER,                                                                                                     \
   .cpu = FN,                                                                                                          \
   .anywhere = HOST,                                                                                                   \
   __VA_ARGS__},                                                                                                       \
      {NAME "V2(handle:string" ARGS ") -> (" RESULT ")" ATTRS,                                                         \
       DOC,                                                                                                            \
       .flags = OP_NO_FOLD | OP_STEP_OBJECT,                                                                           \
       .infer = INFER,                                                                                                 \
       .cpu = FN,                                                                                                      \
       __VA_ARGS__},                                                                                                   \
  {                                                                                                                    \
    NAME "(handle:&string" ARGS ") -> (" RESULT ")" ATTRS, DOC, .flags = OP_NO_FOLD | OP_STEP_OBJECT, .infer = INFER,  \
                                                                .cpu = FN, __VA_ARGS__                                 \
  }
#define VALUE " | dtype:type element_shape:shape=?"
#define FLOW "flow_out:float"

OPS(tensor_array) = {
    {"TensorArrayV3(size:int32) -> (handle:resource, flow:float) | dtype:type element_shape:shape=? "
     "dynamic_size:bool=false clear_after_read:bool=true identical_element_shapes:bool=false "
     "tensor_array_name:string='' ; stateful",
     "A row of tensors for this step.", .kind = KIND_ARRAY, .flags = OP_STEP_OBJECT, .infer = tensor_array_handle_infer,
     .cpu = array_cpu, .no_grad = true, .anywhere = "size", .narrow = NARROW_ALL},
    {"TensorArrayV2(size:int32) -> (handle:string) | dtype:type element_shape:shape=? dynamic_size:bool=false "
     "clear_after_read:bool=true tensor_array_name:string='' ; stateful",
     "TensorArrayV3 with a string handle.", .flags = OP_STEP_OBJECT, .infer = tensor_array_handle_infer,
     .cpu = array_cpu, .no_grad = true, .narrow = NARROW_ALL},
    {"TensorArray(size:int32) -> (handle:&string) | dtype:type dynamic_size:bool=false clear_after_read:bool=true "
     "tensor_array_name:string='' element_shape:shape=? ; stateful",
     "TensorArrayV3 with a reference handle.", .flags = OP_STEP_OBJECT, .infer = tensor_array_handle_infer,
     .cpu = array_cpu, .no_grad = true, .narrow = NARROW_ALL},
    {"TensorArrayGradV3(handle:resource, flow_in:float) -> (grad_handle:resource, flow_out:float) | source:string ; "
     "stateful",
     "The array of gradients of an array's elements.", .kind = KIND_ARRAY_GRADIENT, .flags = OP_STEP_OBJECT,
     .infer = tensor_array_handle_infer, .cpu = gradient_cpu, .grad = second_grad, .anywhere = ""},
    {"TensorArrayGradV2(handle:string, flow_in:float) -> (grad_handle:string) | source:string ; stateful",
     "TensorArrayGradV3 with string handles.", .flags = OP_STEP_OBJECT, .infer = tensor_array_handle_infer,
     .cpu = gradient_cpu, .no_grad = true},
    {"TensorArrayGrad(handle:string, flow_in:float) -> (grad_handle:&string) | source:string ; stateful",
     "TensorArrayGradV3 with a reference handle.", .flags = OP_STEP_OBJECT, .infer = tensor_array_handle_infer,
     .cpu = gradient_cpu, .no_grad = true},
    {"TensorArrayGradWithShape(handle:resource, flow_in:float, shape_to_prepend:int32) -> (grad_handle:resource, "
     "flow_out:float) | source:string ; stateful",
     "TensorArrayGradV3 for gradients with more leading axes.", .flags = OP_STEP_OBJECT,
     .infer = tensor_array_handle_infer, .cpu = gradient_with_shape_cpu, .no_grad = true,
     .anywhere = "shape_to_prepend"},
    ASKS("TensorArrayWrite", ", index:int32, value:T, flow_in:float", FLOW, " | T:type", "Sets one element.",
         weft__infer_scalar, write_cpu, "index value?", .kind = KIND_ARRAY_WRITE, .grad = write_grad),
    ASKS("TensorArrayRead", ", index:int32, flow_in:float", "value:dtype", " | dtype:type", "One element.",
         tensor_array_read_infer, tensor_array_read_cpu, "index value?", .kind = KIND_ARRAY_READ, .grad = read_grad),
    ASKS("TensorArrayGather", ", indices:int32, flow_in:float", "value:dtype", VALUE, "Elements, stacked.",
         tensor_array_gather_infer, tensor_array_gather_cpu, "indices value?", .kind = KIND_ARRAY_GATHER,
         .grad = tensor_array_gather_grad),
    ASKS("TensorArrayScatter", ", indices:int32, value:T, flow_in:float", FLOW, " | T:type",
         "Sets elements from the rows of a tensor.", weft__infer_scalar, tensor_array_scatter_cpu, "indices value?",
         .kind = KIND_ARRAY_SCATTER, .grad = tensor_array_scatter_grad),
    ASKS("TensorArrayConcat", ", flow_in:float", "value:dtype, lengths:int64",
         " | dtype:type element_shape_except0:shape=?", "All elements, one after the other, and their lengths.",
         tensor_array_concat_infer, tensor_array_concat_cpu, "value? lengths", .grad = tensor_array_concat_grad),
    ASKS("TensorArraySplit", ", value:T, lengths:int64, flow_in:float", FLOW, " | T:type",
         "Sets elements from parts of a tensor.", weft__infer_scalar, tensor_array_split_cpu, "value? lengths",
         .grad = tensor_array_split_grad),
    ASKS("TensorArraySize", ", flow_in:float", "size:int32", "", "How many places the array has.", weft__infer_scalar,
         tensor_array_size_cpu, "size", .kind = KIND_ARRAY_SIZE, .no_grad = true),
    ASKS("TensorArrayClose", "", "", "", "Lets go of the elements.", weft__infer_none, tensor_array_close_cpu, "",
         .kind = KIND_CLOSE, .no_grad = true),
    {"TensorArrayPack(handle:&string, flow_in:float) -> (value:dtype)" VALUE, "All elements, stacked.",
     .flags = OP_STEP_OBJECT, .infer = tensor_array_gather_infer, .cpu = pack_cpu},
    {"TensorArrayUnpack(handle:&string, value:T, flow_in:float) -> (flow_out:float) | T:type",
     "Sets all elements from the rows of a tensor.", .flags = OP_STEP_OBJECT, .infer = weft__infer_scalar,
     .cpu = unpack_cpu},
    {.scenario = "tests/parity/test_tensor_array.py tests/parity/test_old_names.py"},
};
