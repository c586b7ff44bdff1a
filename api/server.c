/* server.c - the public functions of servers.  Options that are not set come from the environment. */
#include "api/argument.h"
#include "cluster/server.h"

#include "api/cluster.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/memory_limit.h"
#include "cluster/config.h"
#include "cluster/open.h"
#include "proto/scan.h"
#include "weft/cluster.h"
#include <stdlib.h>
#include <string.h>

/* ---- servers ---- */

static weft_err read_config(session_opts *to, const weft_server_opts *o) {
  ProtobufCMessage *config;
  if (!o->config_size) return WEFT_OK;
  WEFT_TRY(weft__proto_unpack(&config, &tensorflow__config_proto__descriptor, o->config, o->config_size));
  weft__config_apply_task(to, (const Tensorflow__ConfigProto *)config);
  protobuf_c_message_free_unpacked(config, NULL);
  return WEFT_OK;
}

/* Returns true if the variable is set and is neither empty nor "0". */
static bool server_is_set(const char *name) {
  const char *text = weft__open_given_or_env(NULL, name);
  return text && strcmp(text, "0") != 0;
}

static weft_err read_status_port(int *to, int given) {
  const char *text = weft__open_given_or_env(NULL, "WEFT_STATUS_PORT");
  char *end = NULL;
  long port = given ? given : text ? strtol(text, &end, 10) : 0;
  if (!given && end && *end)
    return weft__fail(WEFT_INVALID_ARGUMENT, "no port for the status page: WEFT_STATUS_PORT is '%s' (set a number)",
                      text);
  if (port < 0 || port > 65535)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "no port for the status page: %s is %ld (choose one from 1 to 65535; 0 means no page)",
                      given ? "status_port" : "WEFT_STATUS_PORT", port);
  *to = weft__int_sat(port);
  return WEFT_OK;
}

static weft_err server_create(weft_server **out, const cluster *c, const char *job, int index,
                              const weft_server_opts *o) {
  credentials who;
  server_opts opts = {.job = job,
                      .task = index,
                      .bind = weft__open_given_or_env(o->bind, "WEFT_BIND"),
                      .allow_dirs = o->allow_dirs ? o->allow_dirs : getenv("WEFT_ALLOW_DIRS"),
                      .require_auth = o->require_auth || server_is_set("WEFT_REQUIRE_AUTH"),
                      .serve = o->serve};
  *out = NULL;
  WEFT_TRY(weft__memory_limit_init(o->memory));
  WEFT_TRY(read_status_port(&opts.status_port, o->status_port));
  if (o->protocol && strcmp(o->protocol, "grpc") != 0)
    return weft__fail(WEFT_NOT_FOUND, "No server factory registered for the protocol \"%s\"; there is \"grpc\"",
                      o->protocol);
  WEFT_TRY(read_config(&opts.session, o));
  WEFT_TRY(weft__credentials_find(&who, o->token, o->tls_cert, o->tls_key, o->tls_ca));
  opts.security = who.security;
  weft_err err = weft__server_create(out, c, &opts);
  weft__credentials_finish(&who);
  if (!err && weft__choice_yes(o->start)) err = weft__server_start(*out);
  if (err) {
    weft__server_destroy(*out);
    *out = NULL;
  }
  return err;
}

weft_err weft_server_create(weft_server **out, const weft_cluster *c, const weft_server_opts *opts) {
  API_NEED(out);
  API_NEED(c);
  API_NEED(opts);
  API_OPTS(weft_server_opts, opts);

  if (!opts || !opts->job) return weft__fail(WEFT_INVALID_ARGUMENT, "a server needs the name of its job");
  return server_create(out, &c->all, opts->job, opts->task, opts);
}

weft_err weft_server_create_local(weft_server **out, const weft_server_opts *opts) {
  API_NEED(out);
  API_OPTS(weft_server_opts, opts);

  cluster c;
  const weft_server_opts none = {0};
  WEFT_TRY(weft__cluster_parse(&c, "local=localhost:0"));
  weft_err err = server_create(out, &c, "local", 0, opts ? opts : &none);
  weft__cluster_finish(&c);
  return err;
}

weft_err weft_server_create_from_args(weft_server **out, int argc, char *const *argv) {
  API_NEED(out);
  API_ARRAY(argc, argv);

  weft_cluster *c;
  char *job;
  int index;
  WEFT_TRY(weft_role_find(&c, &job, &index, argc, argv));
  weft_err err = c ? weft_server_create(out, c, &(weft_server_opts){.job = job, .task = index})
                   : weft_server_create_local(out, NULL);
  weft_cluster_destroy(c);
  weft__free(job);
  return err;
}

weft_err weft_server_start(weft_server *s) {
  API_NEED(s);
  return weft__server_start(s);
}
weft_err weft_server_join(weft_server *s) {
  API_NEED(s);
  return weft__server_join(s);
}
bool weft_server_left_kernel(void) { return weft__server_left_kernel(); }
void weft_server_destroy(weft_server *s) { weft__server_destroy(s); }
void weft_server_set_failed(weft_server *s) {
  API_NEED_OR(s, );
  weft__server_set_failed(s);
}
const char *weft_server_target(const weft_server *s) {
  API_NEED_OR(s, NULL);
  return weft__server_target(s);
}
const char *weft_server_job(const weft_server *s) {
  API_NEED_OR(s, NULL);
  return weft__server_job(s);
}
int weft_server_task(const weft_server *s) {
  API_NEED_OR(s, 0);
  return weft__server_task(s);
}
const weft_cluster *weft_server_cluster(const weft_server *s) {
  API_NEED_OR(s, NULL);
  return (const weft_cluster *)weft__server_cluster(s);
}

/* ---- devices ---- */

struct weft_devices {
  device_info *info;
  int n;
};

weft_err weft_session_devices(weft_devices **out, weft_session *sess) {
  API_NEED(out);
  API_NEED(sess);

  weft_devices *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_OOM;
  weft_err err = weft__session_devices(sess, &d->info, &d->n);
  if (err)
    weft__free(d);
  else
    *out = d;
  return err;
}

void weft_devices_destroy(weft_devices *d) {
  if (!d) return;
  weft__place_infos_free(d->info, d->n);
  weft__free(d);
}

int weft_devices_count(const weft_devices *d) {
  API_NEED_OR(d, 0);
  return d->n;
}
static bool devices_has(const weft_devices *d, int i) { return i >= 0 && i < d->n; }
const char *weft_devices_name(const weft_devices *d, int i) {
  API_NEED_OR(d, NULL);
  return devices_has(d, i) ? d->info[i].name : NULL;
}
const char *weft_devices_type(const weft_devices *d, int i) {
  API_NEED_OR(d, NULL);
  return devices_has(d, i) ? d->info[i].type : NULL;
}
int64_t weft_devices_memory(const weft_devices *d, int i) {
  API_NEED_OR(d, 0);
  return devices_has(d, i) ? d->info[i].memory_limit : 0;
}
uint64_t weft_devices_incarnation(const weft_devices *d, int i) {
  API_NEED_OR(d, 0);
  return devices_has(d, i) ? d->info[i].incarnation : 0;
}

/* ---- reset ---- */

weft_err weft_session_reset(const char *target, int n, const char *const *containers) {
  API_NEED(target);
  API_ARRAY(n, containers);

  credentials who;
  WEFT_TRY(weft__credentials_find(&who, NULL, NULL, NULL, NULL));
  weft_err err = weft__client_reset(target, n, containers, 0, &who.security);
  weft__credentials_finish(&who);
  return err;
}
