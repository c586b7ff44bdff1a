/* open.c - opens a session by its target, and reads tokens and certificates.
 *
 * Credentials that the program does not give are taken from the environment.  There is no state and no lock. */
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

const char *weft__open_given_or_env(const char *given, const char *name) {
  if (given) return *given ? given : NULL;
  const char *found = getenv(name);
  return found && *found ? found : NULL;
}

static weft_err credentials_read_pem(char **out, const char *path) {
  text t = {0};
  if (!path) return WEFT_OK;
  weft_err err = weft__file_read(path, &t);
  if (!err && !(*out = weft__strdup(weft__text_get(&t)))) err = WEFT_OOM;
  weft__text_finish(&t);
  return err;
}

/* Reads a token from a file, without the newline at its end.  PERMISSION_DENIED if other users can access the file. */
static weft_err credentials_read_token(char **out, const char *path) {
  struct stat s;
  text t = {0};
  if (stat(path, &s) != 0) return weft__fail(WEFT_NOT_FOUND, "WEFT_TOKEN_FILE: %s: %s", path, strerror(errno));
  if (s.st_mode & 077)
    return weft__fail(WEFT_PERMISSION_DENIED,
                      "WEFT_TOKEN_FILE: %s has mode %03o, so other users may access it (chmod 600)", path,
                      (unsigned)(s.st_mode & 0777));
  weft_err err = weft__file_read(path, &t);
  size_t size = err ? 0 : t.size;
  while (size && (t.data[size - 1] == '\n' || t.data[size - 1] == '\r')) size--;
  if (!err && !size) err = weft__fail(WEFT_INVALID_ARGUMENT, "WEFT_TOKEN_FILE: %s is empty", path);
  if (!err && !(*out = weft__strndup(t.data, size))) err = WEFT_OOM;
  weft__text_finish(&t);
  return err;
}

/* Fills in c.  A token takes precedence over WEFT_TOKEN_FILE. */
static weft_err credentials_read(credentials *c, const char *token, const char *cert, const char *key, const char *ca) {
  const char *file = token ? NULL : weft__open_given_or_env(NULL, "WEFT_TOKEN_FILE");
  if (token && !(c->token = weft__strdup(token))) return WEFT_OOM;
  if (file) WEFT_TRY(credentials_read_token(&c->token, file));
  if ((cert || key || ca) && !(cert && key && ca))
    return weft__fail(WEFT_INVALID_ARGUMENT, "TLS needs a certificate, its key and a CA, but %s is missing",
                      !cert  ? "WEFT_TLS_CERT"
                      : !key ? "WEFT_TLS_KEY"
                             : "WEFT_TLS_CA");
  WEFT_TRY(credentials_read_pem(&c->certificate, cert));
  WEFT_TRY(credentials_read_pem(&c->key, key));
  return credentials_read_pem(&c->ca, ca);
}

weft_err weft__credentials_find(credentials *c, const char *token, const char *cert, const char *key, const char *ca) {
  *c = (credentials){0};
  weft_err err =
      credentials_read(c, weft__open_given_or_env(token, "WEFT_TOKEN"), weft__open_given_or_env(cert, "WEFT_TLS_CERT"),
                       weft__open_given_or_env(key, "WEFT_TLS_KEY"), weft__open_given_or_env(ca, "WEFT_TLS_CA"));
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

/* Opens a session in this process, on a server of this process, or on a server elsewhere. */
static weft_err session_open_target(weft_session **out, weft_graph *g, const char *target, const session_opts *o) {
  if (!target || !*target) {
    session_opts local = *o;
    local.filter = NULL, local.n_filter = 0, local.config_text = NULL; /* borrowed, and used by clusters only */
    return weft__session_create(out, g, &local);
  }
  weft_server *server = weft__server_find(target);
  if (server) return weft__server_open_session(out, server, g, o);
  credentials c;
  WEFT_TRY(weft__credentials_find(&c, NULL, NULL, NULL, NULL));
  weft_err err = weft__client_open(out, target, g, o, &c.security);
  weft__credentials_finish(&c);
  return err;
}

/* Fields of the options that are set override the config. */
static void session_add_fields(Tensorflow__ConfigProto *config, const weft_session_opts *fields) {
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
  ProtobufCMessage *unpacked = NULL;
  session_opts o = {.role = role};
  WEFT_TRY(weft__status_raise(&g->sticky));
  WEFT_TRY(weft__memory_limit_init(NULL));
  if (!opts) opts = &none;
  if (opts->config_size) {
    WEFT_TRY(weft__proto_unpack(&unpacked, &tensorflow__config_proto__descriptor, opts->config, opts->config_size));
    config = (Tensorflow__ConfigProto *)unpacked;
  }
  session_add_fields(config, opts);
  weft_err err = weft__config_apply(&o, config);
  if (!err) err = session_open_target(out, g, opts->target, &o);
  weft__free((void *)(uintptr_t)o.config_text);
  if (unpacked) protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}
