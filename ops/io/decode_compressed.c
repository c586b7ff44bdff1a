/* decode_compressed.c - DecodeCompressed: unpacks strings that zlib or gzip compressed.
 *
 * As in TensorFlow, a truncated string gives as much as its bytes contain. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "io/input.h"
#include <string.h>
#ifdef WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

enum { CHUNK = 64 * 1024, GZIP_BITS = 16 };

#ifdef WEFT_HAVE_ZLIB
static weft_err inflate_all(z_stream *z, text *to) {
  for (int r = Z_OK; r != Z_STREAM_END;) {
    char *room = weft__text_reserve(to, CHUNK);
    if (!room) return WEFT_OOM;
    z->next_out = (unsigned char *)room;
    z->avail_out = CHUNK;
    r = inflate(z, Z_NO_FLUSH);
    to->size += CHUNK - z->avail_out;
    if (r == Z_BUF_ERROR || (r == Z_OK && !z->avail_in && z->avail_out)) return WEFT_OK; /* the input ends */
    if (r != Z_OK && r != Z_STREAM_END)
      return weft__fail(WEFT_DATA_LOSS, "inflate() failed with error %d: %s", r, z->msg ? z->msg : "damaged data");
  }
  return WEFT_OK;
}

static weft_err decompress_string(const str *from, compression c, text *to) {
  z_stream z = {0};
  if (from->size > UINT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a string of %zu bytes is too long to be unpacked", from->size);
  if (inflateInit2(&z, c == COMPRESSION_GZIP ? MAX_WBITS + GZIP_BITS : MAX_WBITS) != Z_OK) return WEFT_OOM;
  z.next_in = (unsigned char *)from->data;
  z.avail_in = (unsigned)from->size;
  const weft_err err = from->size ? inflate_all(&z, to) : WEFT_OK;
  inflateEnd(&z);
  return err;
}
#else
static weft_err decompress_string(const str *from, compression c, text *to) {
  (void)from, (void)c, (void)to;
  return weft__fail(WEFT_UNIMPLEMENTED, "this build has no zlib");
}
#endif

static weft_err decode_compressed_cpu(kernel *k) {
  const attr_str type = weft__node_str(k->node, "compression_type");
  const compression c = weft__compression_of(type.data);
  if (type.size && c == COMPRESSION_NONE)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Only ZLIB, GZIP or NONE are supported compressions, not \"%s\"",
                             type.data);
  if (!type.size) return weft__forward(k, 0, 0, &k->in[0]->shape);
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  text one = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0, n = weft__tensor_count(out); i < n && !err; i++) {
    one.size = 0;
    err = decompress_string(&TENSOR_DATA(k->in[0], str)[i], c, &one);
    if (!err) err = weft__str_set(&TENSOR_DATA(out, str)[i], one.data, one.size);
  }
  weft__text_finish(&one);
  return weft__kernel_in(k, err);
}

static const op_case decode_cases[] = {
    {"str[2] \"a\" \"b\"", "str[2] \"a\" \"b\"", NULL, 0},
    {"str[1] \"\"", "str[1] \"\"", "compression_type='ZLIB'", 0},
    {"str[] \"text\"", "error DATA_LOSS", "compression_type='ZLIB'", 0},
    {"str[] \"text\"", "error DATA_LOSS", "compression_type='GZIP'", 0},
    {"str[] \"text\"", "error INVALID_ARGUMENT", "compression_type='LZ4'", 0},
    {0},
};

OPS(decode_compressed) = {
    {"DecodeCompressed(bytes:string) -> (output:string) | compression_type:string=''", "Strings without compression.",
     .flags = OP_NO_FOLD, .infer = weft__infer_same, .cpu = decode_compressed_cpu, .cases = decode_cases},
    {0},
};
