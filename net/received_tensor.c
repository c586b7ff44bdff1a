/* received_tensor.c - RecvTensorResponse, written and read by hand.
 *
 * Almost every response is is_dead, then a tensor whose type and shape precede its content: that form
 * is read straight from the pieces.  Whatever else protobuf allows goes through protobuf-c. */
#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"

weft_err weft__received_tensor_write(message *out, const weft_tensor *t, bool dead) {
  static const uint8_t nothing[] = {1 << 3 | 2, 6, 1 << 3, WEFT_FLOAT, 2 << 3 | 2, 2, 2 << 3 | 2, 0}; /* float [0] */
  WEFT_TRY(weft__message_add_varint(out, 2, dead));
  if (t && !dead) return weft__message_add_tensor(out, 1, t);
  return weft__message_add_copy(out, nothing, sizeof nothing); /* TF wants a tensor of a dead value too */
}

/* ---- the usual form: false means "not this way", never "bad" ---- */

static bool get_received(message_reader *p, received_tensor *out, weft_err *err) {
  for (uint64_t tag, v; p->left > 0;) {
    size_t length;
    if (!weft__message_reader_varint(p, &tag)) return false;
    if (tag == (1 << 3 | 2)) {
      if (out->dead || !weft__message_reader_length(p, &length) || length != p->left)
        return false; /* last, and only once */
      return weft__message_reader_tensor(p, &out->tensor, err);
    }
    if (!weft__message_reader_varint(p, &v)) return false;
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

static weft_err unpack_received(received_tensor *out, message *m) {
  ProtobufCMessage *unpacked;
  *out = (received_tensor){0};
  WEFT_TRY(weft__message_unpack(&unpacked, m, &tensorflow__recv_tensor_response__descriptor));
  const Tensorflow__RecvTensorResponse *r = (const Tensorflow__RecvTensorResponse *)unpacked;
  out->dead = r->is_dead;
  out->require_ack = r->require_ack;
  weft_err err = WEFT_OK;
  if (!out->dead)
    err = r->tensor ? weft__tensor_from_proto(&out->tensor, r->tensor)
                    : weft__fail(WEFT_INVALID_ARGUMENT, "RecvTensorResponse has no tensor");
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

weft_err weft__received_tensor_read(received_tensor *out, message *m) {
  message_reader p = {.m = m, .left = m->size};
  weft_err err = WEFT_OK;
  *out = (received_tensor){0};
  return get_received(&p, out, &err) ? err : unpack_received(out, m);
}
