/* iterator.c - iterators: creating them, binding them to a data set, and getting the next element. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "proto/scan.h"
#include "state/iterator_resource.h"
#include "state/optional.h"
#include "tf.pb-c.h"

static weft_err make_source(resource **out, void *arg) {
  (void)arg;
  return weft__iterator_resource_create((iterator_resource **)out);
}

static const resource_kind private_iterator = {ITERATOR_TYPE, true, make_source};

static weft_err iterator_cpu(kernel *k) {
  return weft__kernel_in(k, weft__resource_output(k, &private_iterator, NULL));
}

/* ---- one-shot iterators, which create their own data set ---- */

typedef struct one_shot {
  void *memory; /* the state for weft__resource_of_node */
  function *factory;
} one_shot;

static void one_shot_unprepare(void *state) {
  one_shot *s = state;
  if (!s) return;
  weft__resource_unprepare(s->memory);
  weft__function_release(s->factory);
  weft__free(s);
}

static weft_err one_shot_prepare(const weft_node *n, void **state) {
  one_shot *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  weft_err err = weft__resource_prepare(n, &s->memory);
  if (!err) err = weft__function_create(&s->factory, n, "dataset_factory", 0);
  if (err)
    one_shot_unprepare(s);
  else
    *state = s;
  return err;
}

typedef struct factory_call {
  kernel *k;
  function *factory;
} factory_call;

static weft_err call_factory(void *arg, dataset **out) {
  factory_call *c = arg;
  weft_tensor *made = NULL;
  WEFT_TRY(weft__function_call(c->factory, c->k->step, 0, NULL, 1, &made));
  weft_err err = weft__dataset_get(made, out);
  if (!err) weft__object_retain(&(*out)->base.base);
  weft_tensor_destroy(made);
  return err;
}

static weft_err one_shot_cpu(kernel *k) {
  one_shot *s = k->state;
  resource *found = NULL;
  kernel asks = *k; /* the memory of the resource is a part of this op's state */
  asks.state = s->memory;
  const weft_tensor *h = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(&asks, &private_iterator, &found, &h)));
  WEFT_TRY(weft__kernel_in(k, weft__iterator_resource_set_once((iterator_resource *)found, k->step, call_factory,
                                                               &(factory_call){k, s->factory})));
  return weft__out_share(k, 0, h);
}

/* ---- using one ---- */

static weft_err source_in(const kernel *k, int i, iterator_resource **out) {
  return weft__kernel_in(k, weft__handle_get(k->in[i], ITERATOR_TYPE, (resource **)out));
}

static weft_err make_iterator_cpu(kernel *k) {
  iterator_resource *s = NULL;
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  WEFT_TRY(source_in(k, 1, &s));
  return weft__kernel_in(k, weft__iterator_resource_set(s, d, k->step));
}

static weft_err iterator_return(kernel *k, const weft_tensor *got) {
  for (int i = 0; i < k->n_out; i++) {
    const shape *want = &k->node->out_shape[i];
    if (!weft__shape_compatible(want, &got[i].shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes at component %d: expected %s but got %s.",
                               i, weft__shape_text(want), weft__shape_text(&got[i].shape));
    WEFT_TRY(weft__out_share(k, i, &got[i]));
  }
  return WEFT_OK;
}

static weft_err iterator_next_cpu(kernel *k) {
  iterator_resource *s = NULL;
  WEFT_TRY(source_in(k, 0, &s));
  weft_tensor *got = weft__components_alloc(k->n_out);
  if (!got) return WEFT_OOM;
  weft_err err = weft__kernel_in(k, weft__iterator_resource_next(s, k->step, k->n_out, k->node->out_type, got));
  if (!err) err = iterator_return(k, got);
  weft__components_free(got, k->n_out);
  return err;
}

/* Returns the next element as an optional, which has no value at the end. */
static weft_err next_as_optional_cpu(kernel *k) {
  iterator_resource *s = NULL;
  optional *v = NULL;
  const attr *types = weft__node_attr(k->node, "output_types");
  const int n = types ? types->n : 0;
  WEFT_TRY(source_in(k, 0, &s));
  WEFT_TRY(weft__optional_create(&v, n));
  weft_err err = weft__iterator_resource_next(s, k->step, n, types ? types->types : NULL, v->t);
  if (!err) return weft__variant_output(k, 0, &v->base);
  weft__object_release(&v->base.base);
  if (err != WEFT_OUT_OF_RANGE) return weft__kernel_in(k, err);
  WEFT_TRY(weft__optional_create(&v, -1));
  return weft__variant_output(k, 0, &v->base);
}

/* Returns the only element of a data set. */
static weft_err single_cpu(kernel *k) {
  iterator_resource *s = NULL;
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  weft_tensor *got = weft__components_alloc(2 * k->n_out), *more = got + k->n_out;
  weft_err err = got ? weft__iterator_resource_create(&s) : WEFT_OOM;
  if (!err) err = weft__iterator_resource_set(s, d, k->step);
  if (!err) err = weft__iterator_resource_next(s, k->step, k->n_out, k->node->out_type, got);
  if (err == WEFT_OUT_OF_RANGE) err = weft__fail(WEFT_INVALID_ARGUMENT, "Dataset was empty.");
  if (!err && weft__iterator_resource_next(s, k->step, k->n_out, k->node->out_type, more) != WEFT_OUT_OF_RANGE)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Dataset had more than one element.");
  if (!err) err = iterator_return(k, got);
  if (got) weft__components_free(got, 2 * k->n_out);
  weft__object_release((object *)s);
  return weft__kernel_in(k, err);
}

/* ---- saving the position ---- */

/* Returns an optional with the number of elements that were taken and the entropy of the pass.  OptionalGetValue gives
 * the numbers to a Saver. */
static weft_err iterator_serialize_cpu(kernel *k) {
  iterator_resource *s = NULL;
  optional *v = NULL;
  iterator_position at = {0};
  WEFT_TRY(source_in(k, 0, &s));
  WEFT_TRY(weft__kernel_in(k, weft__iterator_resource_position(s, k->step, &at)));
  WEFT_TRY(weft__optional_create(&v, 1));
  const weft_err err = weft__tensor_init(&v->t[0], WEFT_INT64, &SHAPE1(2));
  if (err) {
    weft__object_release(&v->base.base);
    return err;
  }
  TENSOR_DATA(&v->t[0], int64_t)[0] = at.taken;
  TENSOR_DATA(&v->t[0], int64_t)[1] = (int64_t)at.entropy;
  return weft__variant_output(k, 0, &v->base);
}

static weft_err deserialize_cpu(kernel *k) {
  iterator_resource *s = NULL;
  optional *v = NULL;
  WEFT_TRY(source_in(k, 0, &s));
  WEFT_TRY(weft__kernel_in(k, weft__optional_get(k->in[1], &v)));
  const int64_t *found = v->n == 1 && v->t[0].dtype == WEFT_INT64 ? TENSOR_DATA(&v->t[0], int64_t) : NULL;
  const int64_t n = found ? weft__tensor_count(&v->t[0]) : 0; /* 1: a checkpoint of Weft 0.2 without the entropy */
  if ((n != 1 && n != 2) || v->t[0].shape.rank != n - 1 || found[0] < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the variant holds no state of an iterator");
  const iterator_position to = {found[0], n == 2 ? (uint64_t)found[1] : 0};
  return weft__kernel_in(k, weft__iterator_resource_move(s, k->step, to));
}

/* ---- converting to a string and back ---- */

static weft_err to_string_cpu(kernel *k) {
  iterator_resource *s = NULL;
  WEFT_TRY(source_in(k, 0, &s));
  const handle *h = weft__handle_of(k->in[0]);
  Tensorflow__ResourceHandleProto p = TENSORFLOW__RESOURCE_HANDLE_PROTO__INIT;
  p.container = h->container;
  p.name = h->name;
  p.maybe_type_name = (char *)(uintptr_t) "tensorflow::data::IteratorResource";
  size_t size = tensorflow__resource_handle_proto__get_packed_size(&p);
  uint8_t *bytes = weft__alloc(size + 1);
  weft_tensor *t = bytes ? weft__out(k, 0, &SHAPE_SCALAR) : NULL;
  if (bytes) tensorflow__resource_handle_proto__pack(&p, bytes);
  weft_err err = t ? weft__str_set(&TENSOR_DATA(t, str)[0], bytes, size) : WEFT_OOM;
  weft__free(bytes);
  return err;
}

static weft_err from_string_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "string_handle"));
  const str *s = &TENSOR_DATA(k->in[0], str)[0];
  ProtobufCMessage *m = NULL;
  if (weft__proto_unpack(&m, &tensorflow__resource_handle_proto__descriptor, s->data, s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse string_handle as a valid ResourceHandle");
  const Tensorflow__ResourceHandleProto *p = (const Tensorflow__ResourceHandleProto *)m;
  resource *r = NULL;
  weft_tensor *h = NULL;
  weft_err err = weft__resource_find(k->step->resources, p->container, ITERATOR_TYPE, p->name, &r);
  if (!err) err = weft__handle_create(&h, p->container, p->name, r);
  if (!err) err = weft__out_share(k, 0, h);
  weft_tensor_destroy(h);
  weft__object_release((object *)r);
  protobuf_c_message_free_unpacked(m, NULL);
  return weft__kernel_in(k, err);
}

#define OUTPUTS "output_types:list(type)>=1 output_shapes:list(shape)>=1"
#define ANY "output_types:list(type)>=0=[] output_shapes:list(shape)>=0=[]"
#define STATEFUL " ; stateful"
#define MADE                                                                                                           \
  .flags = OP_ONCE, .infer = weft__infer_scalar, .cpu = iterator_cpu, .prepare = weft__resource_prepare,               \
  .unprepare = weft__resource_unprepare
#define GETS(DEF, DOC, FN)                                                                                             \
  { DEF STATEFUL, DOC, .flags = OP_BLOCKING, .infer = weft__infer_output_shapes, .cpu = FN }
#define ASKS(DEF, DOC, FN)                                                                                             \
  { DEF STATEFUL, DOC, .flags = OP_BLOCKING, .infer = weft__infer_scalar, .cpu = FN }

OPS(iterator) = {
    {"Iterator() -> (handle:resource) | shared_name:string container:string " OUTPUTS STATEFUL,
     "An iterator to be set at a data set.", MADE},
    {"IteratorV2() -> (handle:resource) | shared_name:string container:string " OUTPUTS STATEFUL,
     "An iterator to be set at a data set.", MADE},
    {"OneShotIterator() -> (handle:resource) | dataset_factory:func " OUTPUTS
     " container:string='' shared_name:string=''" STATEFUL,
     "An iterator over the data set that a function makes.", .flags = OP_ONCE | OP_BLOCKING,
     .infer = weft__infer_scalar, .cpu = one_shot_cpu, .prepare = one_shot_prepare, .unprepare = one_shot_unprepare},
    ASKS("MakeIterator(dataset:variant, iterator:resource) -> ()", "Sets an iterator at the beginning of a data set.",
         make_iterator_cpu),
    GETS("IteratorGetNext(iterator:resource) -> (components:@output_types) | " OUTPUTS, "The next element.",
         iterator_next_cpu),
    GETS("IteratorGetNextSync(iterator:resource) -> (components:@output_types) | " OUTPUTS, "The next element.",
         iterator_next_cpu),
    ASKS("IteratorGetNextAsOptional(iterator:resource) -> (optional:variant) | " OUTPUTS,
         "The next element, or an optional without a value at the end.", next_as_optional_cpu),
    ASKS("SerializeIterator(resource_handle:resource) -> (serialized:variant) | external_state_policy:int=0",
         "The position of an iterator.", iterator_serialize_cpu),
    ASKS("DeserializeIterator(resource_handle:resource, serialized:variant) -> ()", "Sets the position of an iterator.",
         deserialize_cpu),
    GETS("DatasetToSingleElement(dataset:variant) -> (components:@output_types) | " OUTPUTS " metadata:string=''",
         "The only element.", single_cpu),
    ASKS("IteratorToStringHandle(resource_handle:resource) -> (string_handle:string)", "A name for an iterator.",
         to_string_cpu),
    ASKS("IteratorFromStringHandle(string_handle:string) -> (resource_handle:resource) | " ANY,
         "The iterator of that name.", from_string_cpu),
    ASKS("IteratorFromStringHandleV2(string_handle:string) -> (resource_handle:resource) | " ANY,
         "The iterator of that name.", from_string_cpu),
    {.scenario = "tests/parity/test_data.py"},
};
