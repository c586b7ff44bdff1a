/* ask.c - asks a server who it is, from outside its cluster.
 *
 * Its devices tell which task it is.  Then it is greeted in its own name: a Weft task answers that with its version and
 * state and notes nothing, since nobody else spoke; TensorFlow does not know the method. */
#include "base/clock.h"
#include "dist/member.h"
#include "dist/open.h"
#include "peer.pb-c.h"
#include "rpc.pb-c.h"
#include "weft/cluster.h"
#include <stdio.h>
#include <string.h>

#define GET_STATUS "/tensorflow.WorkerService/GetStatus"

static const char *state_name(int state) {
  switch (state) {
  case MEMBER_RUNNING: return "running";
  case MEMBER_JOINING: return "in join";
  case MEMBER_JOINED: return "done";
  case MEMBER_SERVING: return "serving";
  default: return "leaving";
  }
}

static weft_err ask(channel *c, const char *method, message *request, int64_t timeout_ms,
                    const ProtobufCMessageDescriptor *d, ProtobufCMessage **answer) {
  message reply = {0};
  weft_err err = weft__channel_call_wait(c, method, request, &(call_opts){.timeout_ms = timeout_ms}, &reply);
  if (!err) err = weft__message_unpack(answer, &reply, d);
  weft__message_finish(&reply);
  return err;
}

static weft_err ask_devices(weft_task_info *out, channel *c, int64_t timeout_ms) {
  ProtobufCMessage *m = NULL;
  message nothing = {0};
  WEFT_TRY(ask(c, GET_STATUS, &nothing, timeout_ms, &tensorflow__get_status_response__descriptor, &m));
  const Tensorflow__GetStatusResponse *r = (const Tensorflow__GetStatusResponse *)m;
  weft_err err = r->n_device_attributes ? WEFT_OK : weft__fail(WEFT_FAILED_PRECONDITION, "it has no devices");
  if (!err) {
    const Tensorflow__DeviceAttributes *first = r->device_attributes[0];
    const char *task = strstr(first->name, "/task:");
    const size_t head = task ? (size_t)(task - first->name) + strlen("/task:") : 0;
    snprintf(out->task, sizeof out->task, "%.*s", (int)(head + strspn(first->name + head, "0123456789")), first->name);
    out->incarnation = first->incarnation;
    out->devices = (int)r->n_device_attributes;
  }
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err ask_member(weft_task_info *out, channel *c, int64_t timeout_ms) {
  ProtobufCMessage *m = NULL;
  message request = {0};
  Weft__Hello hello = WEFT__HELLO__INIT;
  hello.from = hello.to = out->task;
  WEFT_TRY(weft__message_pack(&request, &hello.base));
  weft_err err = ask(c, WEFT_HELLO_METHOD, &request, timeout_ms, &weft__hello__descriptor, &m);
  weft__message_finish(&request);
  if (err) return err == WEFT_UNIMPLEMENTED ? WEFT_OK : err;
  const Weft__Hello *h = (const Weft__Hello *)m;
  snprintf(out->version, sizeof out->version, "%s", h->version);
  out->state = state_name(h->state);
  out->incarnation = h->incarnation;
  protobuf_c_message_free_unpacked(m, NULL);
  return WEFT_OK;
}

weft_err weft_task_ask(weft_task_info *out, const char *address, int64_t timeout_ms) {
  credentials who;
  channel *c = NULL;
  *out = (weft_task_info){.state = ""};
  WEFT_TRY(weft__credentials_find(&who, NULL, NULL, NULL, NULL));
  weft_err err = weft__channel_create(&c, address, &(channel_opts){.security = who.security});
  if (!err) err = ask_devices(out, c, timeout_ms);
  if (!err) {
    const int64_t began = weft__now_ns();
    err = ask_member(out, c, timeout_ms);
    out->round_trip_ms = (double)(weft__now_ns() - began) / 1e6;
  }
  weft__channel_destroy(c);
  weft__credentials_finish(&who);
  return err;
}
