/* ask.c - asks a server for its identity and status, from outside its cluster.
 *
 * The names of its devices tell which task it is.  Then we send it a Hello whose sender and receiver are both that
 * task.  A Weft task answers with its version and state and does not record the Hello, because it seems to come from
 * itself.  TensorFlow answers UNIMPLEMENTED. */
#include "api/argument.h"
#include "base/cast.h"
#include "base/clock.h"
#include "cluster/membership/member.h"
#include "cluster/open.h"
#include "cluster/status/report.h"
#include "peer.pb-c.h"
#include "rpc.pb-c.h"
#include "weft/cluster.h"
#include <stdio.h>
#include <string.h>

#define GET_STATUS "/tensorflow.WorkerService/GetStatus"

static weft_err ask_task(channel *c, const char *method, message *request, int64_t timeout_ms,
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
  WEFT_TRY(ask_task(c, GET_STATUS, &nothing, timeout_ms, &tensorflow__get_status_response__descriptor, &m));
  const Tensorflow__GetStatusResponse *r = (const Tensorflow__GetStatusResponse *)m;
  weft_err err = r->n_device_attributes ? WEFT_OK : weft__fail(WEFT_FAILED_PRECONDITION, "it has no devices");
  if (!err) {
    const Tensorflow__DeviceAttributes *first = r->device_attributes[0];
    const char *at = strstr(first->name, "/task:");
    const size_t head = at ? (size_t)(at - first->name) + strlen("/task:") : 0;
    snprintf(out->task, sizeof out->task, "%.*s", weft__int_sat(head + strspn(first->name + head, "0123456789")),
             first->name);
    out->incarnation = first->incarnation;
    out->devices = weft__int_sat(r->n_device_attributes);
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
  weft_err err = ask_task(c, WEFT_HELLO_METHOD, &request, timeout_ms, &weft__hello__descriptor, &m);
  weft__message_finish(&request);
  if (err) return err == WEFT_UNIMPLEMENTED ? WEFT_OK : err;
  const Weft__Hello *h = (const Weft__Hello *)m;
  snprintf(out->version, sizeof out->version, "%s", h->version);
  out->state = weft__member_state_name((member_state)h->state);
  out->incarnation = h->incarnation;
  protobuf_c_message_free_unpacked(m, NULL);
  return WEFT_OK;
}

static void take_report(weft_task_status *out, const Weft__TaskReport *r, int64_t our_us) {
  *out = (weft_task_status){.uptime_s = r->uptime,
                            .skew_s = (double)(r->now_us - our_us) * 1e-6,
                            .sessions = r->sessions,
                            .client_sessions = r->client_sessions,
                            .idle_sessions = r->idle_sessions,
                            .runs = (int64_t)r->runs,
                            .parts = (int64_t)r->parts,
                            .runs_per_s = r->runs_rate,
                            .parts_per_s = r->parts_rate,
                            .bytes_in = (int64_t)r->bytes_in,
                            .bytes_out = (int64_t)r->bytes_out,
                            .in_per_s = r->in_rate,
                            .out_per_s = r->out_rate,
                            .resident = (int64_t)r->resident,
                            .variables = (int64_t)r->variables,
                            .variable_bytes = (int64_t)r->variable_bytes,
                            .global_step = r->global_step,
                            .loss = r->loss,
                            .checkpoint_age_s = *r->checkpoint ? (double)(r->now_us - r->checkpoint_us) * 1e-6 : -1};
  snprintf(out->task, sizeof out->task, "%s", r->task);
  snprintf(out->version, sizeof out->version, "%s", r->version);
  snprintf(out->state, sizeof out->state, "%s", r->state);
  snprintf(out->checkpoint, sizeof out->checkpoint, "%s", r->checkpoint);
  if (r->n_error) snprintf(out->error, sizeof out->error, "%s", r->error[r->n_error - 1]->text);
  size_t used = 0;
  for (size_t i = 0; i < r->n_waits && used < sizeof out->waits; i++)
    used += (size_t)snprintf(out->waits + used, sizeof out->waits - used, "%s%s", i ? "; " : "", r->waits[i]);
}

static weft_err ask_report(weft_task_status *out, channel *c, int64_t timeout_ms) {
  ProtobufCMessage *m = NULL;
  message request = {0};
  Weft__ReportRequest brief = WEFT__REPORT_REQUEST__INIT;
  brief.brief = true;
  WEFT_TRY(weft__message_pack(&request, &brief.base));
  const int64_t before = weft__clock_wall_us();
  weft_err err = ask_task(c, WEFT_REPORT_METHOD, &request, timeout_ms, &weft__task_report__descriptor, &m);
  weft__message_finish(&request);
  if (err) return err;
  take_report(out, (const Weft__TaskReport *)m, before / 2 + weft__clock_wall_us() / 2);
  protobuf_c_message_free_unpacked(m, NULL);
  return WEFT_OK;
}

weft_err weft_task_status_ask(weft_task_status *out, const char *address, int64_t timeout_ms) {
  API_NEED(out);
  API_NEED(address);

  credentials who;
  channel *c = NULL;
  message nothing = {0};
  ProtobufCMessage *m = NULL;
  WEFT_TRY(weft__credentials_find(&who, NULL, NULL, NULL, NULL));
  weft_err err = weft__channel_create(&c, address, &(channel_opts){.security = who.security});
  /* Connects before the report is requested.  Then the server reads its clock about halfway between request and
   * response. */
  if (!err) err = ask_task(c, GET_STATUS, &nothing, timeout_ms, &tensorflow__get_status_response__descriptor, &m);
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  if (!err) err = ask_report(out, c, timeout_ms);
  weft__channel_destroy(c);
  weft__credentials_finish(&who);
  return err;
}

weft_err weft_task_ask(weft_task_info *out, const char *address, int64_t timeout_ms) {
  API_NEED(out);
  API_NEED(address);

  credentials who;
  channel *c = NULL;
  *out = (weft_task_info){.state = ""};
  WEFT_TRY(weft__credentials_find(&who, NULL, NULL, NULL, NULL));
  weft_err err = weft__channel_create(&c, address, &(channel_opts){.security = who.security});
  if (!err) err = ask_devices(out, c, timeout_ms);
  if (!err) {
    const int64_t began = weft__clock_now_ns();
    err = ask_member(out, c, timeout_ms);
    out->round_trip_ms = (double)(weft__clock_now_ns() - began) / 1e6;
  }
  weft__channel_destroy(c);
  weft__credentials_finish(&who);
  return err;
}
