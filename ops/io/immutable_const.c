/* immutable_const.c - ImmutableConst: a tensor whose bytes are those of a file. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "io/confine.h"
#include "io/file.h"
#include <unistd.h>

static weft_err immutable_fill(const char *path, weft_tensor *out) {
  int fd = -1;
  uint64_t size = 0;
  WEFT_TRY(weft__file_open(path, &fd, &size));
  const size_t wanted = weft__tensor_bytes(out);
  const weft_err err =
      size < wanted
          ? weft__fail(WEFT_INTERNAL, "Readonly memory region has wrong length (%llu) when allocating %zu: %s",
                       (unsigned long long)size, wanted, path)
          : weft__file_read_at(fd, path, 0, out->data, wanted);
  close(fd);
  return err;
}

static weft_err immutable_cpu(kernel *k) {
  const char *path = weft__node_str(k->node, "memory_region_name").data;
  const weft_dtype type = k->node->out_type[0];
  const attr *a = weft__node_attr(k->node, "shape");
  if (!a || !weft__shape_known(a->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape %s is not fully defined",
                             a ? weft__shape_text(a->shape) : "?");
  if (type == WEFT_STRING)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Sorry, DT_STRING is not currently supported for ImmutableConstOp.");
  if (!weft__dtype_is_plain(type)) return weft__kernel_no_type(k, type);
  WEFT_TRY(weft__kernel_in(k, weft__path_allowed(path)));
  weft_tensor *out = weft__out(k, 0, a->shape);
  return out ? weft__kernel_in(k, immutable_fill(path, out)) : weft__out_refused(a->shape);
}

OPS(immutable_const) = {
    {"ImmutableConst() -> (tensor:dtype) | dtype:type shape:shape memory_region_name:string",
     "A tensor whose bytes are those of a file.", .flags = OP_NO_FOLD, .infer = weft__infer_attr_shape,
     .cpu = immutable_cpu, .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_rare_ops.py"},
};
