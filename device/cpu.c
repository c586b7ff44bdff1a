/* cpu.c - the CPU device: host memory, copies at once, nothing to wait for.  It has no state and no lock. */
#include "base/alloc.h"
#include "base/block.h"
#include "base/clock.h"
#include "device/device.h"
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static weft_err cpu_alloc_host(device *d, buffer **out, weft_dtype dtype, int64_t count) {
  (void)d;
  return weft__buffer_create(out, dtype, count);
}

/* Both directions are the same copy; dst already has its memory. */
static weft_err cpu_copy(device *d, weft_tensor *dst, const weft_tensor *src) {
  if (dst->dtype != src->dtype || weft__tensor_count(dst) != weft__tensor_count(src))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: copying a %s tensor of shape %s into one of type %s, shape %s",
                      d->name, weft__dtype_name(src->dtype), weft__shape_text(&src->shape),
                      weft__dtype_name(dst->dtype), weft__shape_text(&dst->shape));
  return weft__elements_copy(dst->dtype, dst->data, src->data, weft__tensor_count(src));
}

static weft_err cpu_sync(device *d) {
  (void)d;
  return WEFT_OK;
}

void weft__device_free(device *d) {
  weft__free(d->name);
  weft__free(d->description);
  weft__free(d);
}

static const device_ops cpu_ops = {
    .type = "CPU",
    .alloc_host = cpu_alloc_host,
    .copy_in = cpu_copy,
    .copy_out = cpu_copy,
    .sync_copies_out = cpu_sync,
    .sync = cpu_sync,
    .destroy = weft__device_free,
};

/* Random, so that a restarted task differs from the one before; 0 means "unknown" on the wire. */
uint64_t weft__device_incarnation(void) {
  uint64_t n = 0;
  if (getrandom(&n, sizeof n, GRND_NONBLOCK) != (ssize_t)sizeof n)
    n = (uint64_t)weft__clock_now_ns() * 0x9e3779b97f4a7c15u;
  return n ? n : 1;
}

weft_err weft__device_cpu(device **out, const char *task, int id) {
  *out = NULL;
  device *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_RESOURCE_EXHAUSTED;
  *d = (device){.ops = &cpu_ops, .id = id, .memory_limit = 256 << 20, .incarnation = weft__device_incarnation()};
  d->name = weft__sprintf("%s/device:CPU:%d", task, id);
  d->description = weft__strdup("");
  if (!d->name || !d->description) {
    weft__device_free(d);
    return WEFT_RESOURCE_EXHAUSTED;
  }
  *out = d;
  return WEFT_OK;
}

void weft__device_destroy(device *d) {
  if (d) d->ops->destroy(d);
}
