/* received_tensor.c - RecvTensorResponse, written and read by hand.
 *
 * Almost every response is is_dead, then a tensor whose type and shape precede its content.  This form is read
 * straight from the pieces; whatever else protobuf allows goes through protobuf-c.  No state, no locks. */
#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"

weft_err weft__received_tensor_write(message *out, const weft_tensor *t, bool dead) {
  static const uint8_t empty_tensor[] = {1 << 3 | 2, 6, 1 << 3,     WEFT_FLOAT,
                                         2 << 3 | 2, 2, 2 << 3 | 2, 0}; /* float [0] */
  WEFT_TRY(weft__message_add_varint(out, 2, dead));
  if (t && !dead) return weft__message_add_tensor(out, 1, t);
  return weft__message_add_copy(out, empty_tensor, sizeof empty_tensor); /* TF requires a tensor for a dead value too */
}

/* ---- the usual form ---- */

/* Returns false if the response has another form, which may still be valid. */

static bool received_tensor_read_usual(message_reader *r, received_tensor *out, weft_err *err) {
  for (uint64_t tag, v; r->left > 0;) {
    size_t length;
    if (!weft__message_reader_varint(r, &tag)) return false;
    if (tag == (1 << 3 | 2)) {
      if (out->dead || !weft__message_reader_length(r, &length) || length != r->left)
        return false; /* last, and only once */
      return weft__message_reader_tensor(r, &out->tensor, err);
    }
    if (!weft__message_reader_varint(r, &v)) return false;
    switch (tag) {
    case 2 << 3: out->dead = v != 0; break;
    case 3 << 3: break; /* send_start_micros */
    case 5 << 3: out->require_ack = v != 0; break;
    default: return false;
    }
  }
  return false;
}

/* ---- any form ---- */

static weft_err received_tensor_unpack(received_tensor *out, message *m) {
  ProtobufCMessage *unpacked;
  *out = (received_tensor){0};
  WEFT_TRY(weft__message_unpack(&unpacked, m, &tensorflow__recv_tensor_response__descriptor));
  const Tensorflow__RecvTensorResponse *proto = (const Tensorflow__RecvTensorResponse *)unpacked;
  out->dead = proto->is_dead;
  out->require_ack = proto->require_ack;
  weft_err err = WEFT_OK;
  if (!out->dead)
    err = proto->tensor ? weft__tensor_from_proto(&out->tensor, proto->tensor)
                        : weft__fail(WEFT_INVALID_ARGUMENT, "RecvTensorResponse has no tensor");
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

weft_err weft__received_tensor_read(received_tensor *out, message *m) {
  message_reader r = {.m = m, .left = m->size};
  weft_err err = WEFT_OK;
  *out = (received_tensor){0};
  return received_tensor_read_usual(&r, out, &err) ? err : received_tensor_unpack(out, m);
}
