/* open.c - from a target to a session.  What a program leaves open about tokens and certificates, the environment says. */
#include "cluster/open.h"

#include "base/alloc.h"
#include "base/memory_limit.h"
#include "cluster/config.h"
#include "cluster/server.h"
#include "io/file.h"
#include "proto/scan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tokens and certificates ---- */

static const char *or_env(const char *given, const char *name) {
  if (given) return *given ? given : NULL;
  const char *found = getenv(name);
  return found && *found ? found : NULL;
}

static weft_err read_pem(char **out, const char *path) {
  text t = {0};
  if (!path) return WEFT_OK;
  weft_err err = weft__file_read(path, &t);
  if (!err && !(*out = weft__strdup(weft__text_get(&t)))) err = WEFT_OOM;
  weft__text_finish(&t);
  return err;
}

/* A token in a file, without the line's end; others may not read the file. */
static weft_err read_token(char **out, const char *path) {
  struct stat s;
  text t = {0};
  if (stat(path, &s) != 0) return weft__fail(WEFT_NOT_FOUND, "WEFT_TOKEN_FILE: %s: %s", path, strerror(errno));
  if (s.st_mode & 077)
    return weft__fail(WEFT_PERMISSION_DENIED,
                      "WEFT_TOKEN_FILE: %s has mode %03o, so that others may use it (chmod 600)", path,
                      (unsigned)(s.st_mode & 0777));
  weft_err err = weft__file_read(path, &t);
  size_t size = err ? 0 : t.size;
  while (size && (t.data[size - 1] == '\n' || t.data[size - 1] == '\r')) size--;
  if (!err && !size) err = weft__fail(WEFT_INVALID_ARGUMENT, "WEFT_TOKEN_FILE: %s is empty", path);
  if (!err && !(*out = weft__strndup(t.data, size))) err = WEFT_OOM;
  weft__text_finish(&t);
  return err;
}

static weft_err find(credentials *c, const char *token, const char *cert, const char *key, const char *ca) {
  const char *file = token ? NULL : or_env(NULL, "WEFT_TOKEN_FILE");
  if (token && !(c->token = weft__strdup(token))) return WEFT_OOM;
  if (file) WEFT_TRY(read_token(&c->token, file));
  if ((cert || key || ca) && !(cert && key && ca))
    return weft__fail(WEFT_INVALID_ARGUMENT, "TLS needs a certificate, its key and a CA, and %s is missing",
                      !cert  ? "WEFT_TLS_CERT"
                      : !key ? "WEFT_TLS_KEY"
                             : "WEFT_TLS_CA");
  WEFT_TRY(read_pem(&c->certificate, cert));
  WEFT_TRY(read_pem(&c->key, key));
  return read_pem(&c->ca, ca);
}

weft_err weft__credentials_find(credentials *c, const char *token, const char *cert, const char *key, const char *ca) {
  *c = (credentials){0};
  weft_err err = find(c, or_env(token, "WEFT_TOKEN"), or_env(cert, "WEFT_TLS_CERT"), or_env(key, "WEFT_TLS_KEY"),
                      or_env(ca, "WEFT_TLS_CA"));
  c->security = (security){c->token, c->certificate, c->key, c->ca};
  if (err) weft__credentials_finish(c);
  return err;
}

void weft__credentials_finish(credentials *c) {
  char *owned[] = {c->token, c->certificate, c->key, c->ca};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) weft__free(owned[i]);
  *c = (credentials){0};
}

/* ---- sessions ---- */

/* By target: this process, a server of this process, or one elsewhere. */
static weft_err open_at(weft_session **out, weft_graph *g, const char *target, const session_opts *o) {
  if (!target || !*target) {
    session_opts local = *o;
    local.filter = NULL, local.n_filter = 0, local.config_text = NULL; /* borrowed, and of clusters only */
    return weft__session_create(out, g, &local);
  }
  weft_server *here = weft__server_at(target);
  if (here) return weft__server_open(out, here, g, o);
  credentials who;
  WEFT_TRY(weft__credentials_find(&who, NULL, NULL, NULL, NULL));
  weft_err err = weft__client_open(out, target, g, o, &who.security);
  weft__credentials_finish(&who);
  return err;
}

/* What the fields say where they are set; the config's word counts for the rest. */
static void add_fields(Tensorflow__ConfigProto *config, const weft_session_opts *fields) {
  if (fields->intra_op_threads) config->intra_op_parallelism_threads = fields->intra_op_threads;
  if (fields->inter_op_threads) config->inter_op_parallelism_threads = fields->inter_op_threads;
  if (fields->timeout_ms) config->operation_timeout_in_ms = fields->timeout_ms;
  config->allow_soft_placement |= fields->allow_soft_placement;
  config->log_device_placement |= fields->log_device_placement;
}

weft_err weft__session_open(weft_session **out, weft_graph *g, const weft_session_opts *opts) {
  return weft__session_open_as(out, g, opts, ROLE_NONE);
}

weft_err weft__session_open_as(weft_session **out, weft_graph *g, const weft_session_opts *opts, session_role role) {
  const weft_session_opts none = {0};
  Tensorflow__ConfigProto empty = TENSORFLOW__CONFIG_PROTO__INIT, *config = &empty;
  ProtobufCMessage *given = NULL;
  session_opts o = {.role = role};
  WEFT_TRY(weft__status_raise(&g->sticky));
  WEFT_TRY(weft__memory_limit_init(NULL));
  if (!opts) opts = &none;
  if (opts->config_size) {
    WEFT_TRY(weft__proto_unpack(&given, &tensorflow__config_proto__descriptor, opts->config, opts->config_size));
    config = (Tensorflow__ConfigProto *)given;
  }
  add_fields(config, opts);
  weft_err err = weft__config_apply(&o, config);
  if (!err) err = open_at(out, g, opts->target, &o);
  weft__free((void *)(uintptr_t)o.config_text);
  if (given) protobuf_c_message_free_unpacked(given, NULL);
  return err;
}
