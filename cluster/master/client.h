/* client.h - a session whose master is in another process, for the files that run it: client.c and client_prepared.c.
 */
#ifndef WEFT_CLUSTER_MASTER_CLIENT_H
#define WEFT_CLUSTER_MASTER_CLIENT_H

#include "cluster/server.h"
#include "exec/executors/runs.h"
#include "net/message_reader.h"

#define MASTER "/tensorflow.MasterService/"

typedef struct client {
  weft_session base;
  session_opts opts; /* without filters and config text, which are only sent */
  char *target;
  uint8_t *config; /* a ConfigProto */
  size_t config_size;
  channel *channel;
  /* Written only by the call that does the update: */
  char *handle; /* NULL: not created yet */
  int64_t version;
  int sent;             /* the number of nodes that the master has */
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t update_ended;
  bool updating; /* a call creates or extends the session */
  runs calls;
} client;

/* Lists the call, so that closing the session cancels it.  closing: the call is CloseSession itself. */
weft_err weft__client_begin_call(client *s, run_entry *a, bool closing);
void weft__client_end_call(client *s, run_entry *a);
/* Creates the session if there is none, and sends the nodes that the graph has now. */
weft_err weft__client_update_session(client *s, run_entry *a, int64_t timeout_ms);
/* Calls the master, waits, and unpacks its answer, which the caller frees.  The request is emptied. */
weft_err weft__client_call_master(client *s, run_entry *a, const char *method, message *request, int64_t timeout_ms,
                                  const ProtobufCMessageDescriptor *d, ProtobufCMessage **answer);
/* Runs a step, or a call of the partial run with this handle (NULL: none). */
weft_err weft__client_run_step(client *s, const plan_request *r, const weft_tensor *const *feed, weft_tensor **fetched,
                               const run_opts *opts, const char *partial);
char *weft__client_output_name(const weft_graph *g, weft_out o);   /* "node:slot"; weft__free.  The graph is locked. */
weft_err weft__client_add_name(message *m, int field, char *name); /* frees the name; WEFT_OOM if it is NULL */
uint64_t weft__client_new_request_id(void);

/* client_prepared.c: partial runs and callables. */
weft_err weft__client_partial_setup(weft_session *s, const plan_request *r, partial_run **out);
weft_err weft__client_make_callable(weft_session *s, const plan_request *r, callable **out);

#endif
