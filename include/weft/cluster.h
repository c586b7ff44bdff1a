/* cluster.h - clusters, servers, and sessions that run on them.  Programs include weft.h, which states the rules.
 *
 * A cluster lists jobs, their tasks and the address of each.  A process that is one of the tasks makes a server of it,
 * after which sessions with the server's target run on the whole cluster, and sessions of other tasks may use this one:
 *     weft_server_create_from_args(&server, argc, argv);    --ps_hosts a:1 --worker_hosts b:1,c:1 --job_name ps ...
 *     if (strcmp(weft_server_job(server), "ps") == 0) return weft_server_join(server);
 *     weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(server)}); */
#ifndef WEFT_CLUSTER_H
#define WEFT_CLUSTER_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clusters ------------------------------------------------------------------------------- */

typedef struct weft_cluster weft_cluster;

WEFT_CHECKED weft_err weft_cluster_create(weft_cluster **out); /* empty */
WEFT_API void weft_cluster_destroy(weft_cluster *c);
/* Adds a task.  Indices may have gaps.  Returns ALREADY_EXISTS if the task has an address already. */
WEFT_CHECKED weft_err weft_cluster_add(weft_cluster *c, const char *job, int task, const char *address);
/* Adds tasks 0, 1, ... from "host:port,host:port". */
WEFT_CHECKED weft_err weft_cluster_add_hosts(weft_cluster *c, const char *job, const char *hosts);
/* Parses "ps=host:port,host:port;worker=host:port" (or one job per line), or JSON: {"ps": ["host:port"]}, also as
 * the "cluster" of a TF_CONFIG. */
WEFT_CHECKED weft_err weft_cluster_parse(weft_cluster **out, const char *text);
/* Convert from and to a serialized ClusterDef.  The caller frees the bytes with weft_free. */
WEFT_CHECKED weft_err weft_cluster_from_def(weft_cluster **out, const void *cluster_def, size_t size);
WEFT_CHECKED weft_err weft_cluster_to_def(void **out, size_t *size, const weft_cluster *c);
/* List the jobs, ordered by name, and the tasks of a job, ordered by index. */
WEFT_API int weft_cluster_job_count(const weft_cluster *c);
WEFT_API const char *weft_cluster_job(const weft_cluster *c, int i);
WEFT_API int weft_cluster_task_count(const weft_cluster *c, const char *job);  /* 0 if there is no such job */
WEFT_API int weft_cluster_task(const weft_cluster *c, const char *job, int i); /* the index of its i-th task; -1 */
WEFT_API const char *weft_cluster_address(const weft_cluster *c, const char *job, int task); /* NULL if there is none */

/* Finds out which task this process is.  It looks at the following, in this order: flags (--ps_hosts or any
 * --JOB_hosts, also --parameter_servers and --workers; --job_name; --task_index or --task_id; other arguments are
 * ignored), TF_CONFIG, Slurm's environment, and MPI's (hosts from --hosts, else localhost).  With Slurm and MPI the
 * first WEFT_NUM_PS (1) tasks are ps and the rest workers, on ports from WEFT_PORT (8888) on.  If nothing was found,
 * *out is NULL and *job is "".  The caller frees *job with weft_free. */
WEFT_CHECKED weft_err weft_role_find(weft_cluster **out, char **job, int *task, int argc, char *const *argv);

/* ---- servers -------------------------------------------------------------------------------- */

typedef struct weft_server weft_server;

typedef struct weft_server_opts {
  size_t size;
  const char *job; /* the job and the index of this task */
  int task;
  const char *protocol; /* NULL or "grpc" */
  weft_choice start;    /* default yes: create starts listening; no: weft_server_start does */
  bool serve;           /* a task without a program of its own: join returns only when interrupted */
  const char *bind;     /* "host:port" to listen on instead of the listed address; NULL: WEFT_BIND, if set */
  /* required of, and sent with, every call; NULL: WEFT_TOKEN, or the content of the file WEFT_TOKEN_FILE, if set */
  const char *token;
  const char *tls_cert; /* PEM files for mutual TLS, all three; NULL: WEFT_TLS_CERT, WEFT_TLS_KEY, WEFT_TLS_CA */
  const char *tls_key;
  const char *tls_ca;
  /* directories, separated by ':', that file ops may access; NULL: WEFT_ALLOW_DIRS; if that is unset: all, or none
   * if there is a token or TLS */
  const char *allow_dirs;
  const void *config; /* a serialized ConfigProto: the threads and devices of this task */
  size_t config_size;
  int status_port;   /* serves a status page, JSON and Prometheus metrics on this port; 0: WEFT_STATUS_PORT, if set */
  bool require_auth; /* refuse to start without a token or TLS; WEFT_REQUIRE_AUTH=1 does the same */
  /* a limit on the memory of this process: "800M", "4G", "auto" (90 % of the cgroup's limit); an allocation beyond
   * it fails its step with RESOURCE_EXHAUSTED.  NULL: WEFT_MEMORY; if unset, none */
  const char *memory;
} weft_server_opts;

/* Creates the server of a task.  It listens on loopback only if all addresses of the cluster are loopback addresses.
 * Otherwise it listens on the task's own address, and logs a warning if it has neither a token nor TLS. */
WEFT_CHECKED weft_err weft_server_create(weft_server **out, const weft_cluster *c, const weft_server_opts *opts);
/* Creates a server for a cluster of one task, /job:local/task:0, on a free port of this host.  opts may be NULL; its
 * job and task are not read. */
WEFT_CHECKED weft_err weft_server_create_local(weft_server **out, const weft_server_opts *WEFT_OPTIONAL opts);
/* Creates the server of the task that weft_role_find finds; of a cluster of one task if it finds none. */
WEFT_CHECKED weft_err weft_server_create_from_args(weft_server **out, int argc, char *const *argv);
WEFT_CHECKED weft_err weft_server_start(weft_server *s); /* does nothing if it has started already */
/* Waits until the job is over: every other task was seen and is in join too or has left, sessions have been idle for
 * 5 s, and some task has run a session through its own server.  Returns CANCELLED after weft_interrupt.  A task that
 * died or never started is waited for WEFT_JOIN_TIMEOUT seconds (1800; 0: forever); then DEADLINE_EXCEEDED names it. */
WEFT_CHECKED weft_err weft_server_join(weft_server *s);
/* Tells the other tasks that this one leaves (an exiting program does that too), cancels the steps that run here,
 * closes the sessions of clients and frees the port.  It waits at most 5 s: a kernel that still computes then keeps
 * the server's memory and port until the process ends, which is logged. */
WEFT_API void weft_server_destroy(weft_server *s);
/* Returns true if a server was destroyed while a kernel still computed.  End the process with _exit then: exit would
 * free memory that the kernel uses, and the kernel would crash. */
WEFT_API bool weft_server_left_kernel(void);
/* Says that the program is about to end with a failure.  The other tasks are then told that it may be restarted, so
 * that sessions which need this task wait for it.  An exit code other than 0 and an interrupt have the same effect. */
WEFT_API void weft_server_set_failed(weft_server *s);
WEFT_API const char *weft_server_target(const weft_server *s); /* "grpc://localhost:2222" */
WEFT_API const char *weft_server_job(const weft_server *s);
WEFT_API int weft_server_task(const weft_server *s);
WEFT_API const weft_cluster *weft_server_cluster(const weft_server *s);

/* The reply of the server at "host:port" to a question about itself.  The server keeps no record of the question.
 * weft_task_ask sends the token and the certificates of the environment.  It returns UNAVAILABLE if no server at
 * that address speaks TensorFlow's protocol. */
typedef struct weft_task_info {
  char task[256];       /* "/job:ps/replica:0/task:0" */
  char version[32];     /* of Weft; "": it is TensorFlow */
  const char *state;    /* of a Weft task: "running", "serving" (in join) or "idle" (in join, without work); else "" */
  uint64_t incarnation; /* changes with each start */
  int devices;
  double round_trip_ms; /* of a call on an open connection */
} weft_task_info;
WEFT_CHECKED weft_err weft_task_ask(weft_task_info *out, const char *address, int64_t timeout_ms);

/* The status of the Weft task at "host:port".  The numbers are those of its process since it started; rates are over
 * the last few seconds.  The errors are those of weft_task_ask, and UNIMPLEMENTED from a TensorFlow task. */
typedef struct weft_task_status {
  char task[256];
  char version[32];
  char state[16]; /* "running"; "waiting": its program is blocked; "serving": it works for other tasks; "idle" */
  double uptime_s, skew_s; /* skew: how far its clock is ahead of ours */
  int64_t sessions;        /* sessions of any master that are open on this task */
  int64_t runs, parts;     /* runs of sessions whose master it is; partitions of steps that it ran for any master */
  double runs_per_s, parts_per_s;
  int64_t bytes_in, bytes_out; /* over the network */
  double in_per_s, out_per_s;
  int64_t resident; /* bytes of memory */
  int64_t variables, variable_bytes;
  int64_t global_step;     /* -1: not known */
  double loss;             /* NaN: not known */
  double checkpoint_age_s; /* -1: this process has written none */
  char checkpoint[256];
  char waits[1024];                       /* the tasks it waits for and how long, separated by "; "; "": none */
  char error[256];                        /* the last warning or error */
  int64_t client_sessions, idle_sessions; /* of other processes; those whose client is gone */
} weft_task_status;
WEFT_CHECKED weft_err weft_task_status_ask(weft_task_status *out, const char *address, int64_t timeout_ms);

/* ---- sessions on clusters: weft_session_opts.target in core.h ------------------------------- */

typedef struct weft_devices weft_devices; /* a list */
WEFT_CHECKED weft_err weft_session_devices(weft_devices **out, weft_session *sess);
WEFT_API void weft_devices_destroy(weft_devices *d);
WEFT_API int weft_devices_count(const weft_devices *d);
WEFT_API const char *weft_devices_name(const weft_devices *d, int i); /* "/job:ps/replica:0/task:0/device:CPU:0" */
WEFT_API const char *weft_devices_type(const weft_devices *d, int i); /* "CPU" */
WEFT_API int64_t weft_devices_memory(const weft_devices *d, int i);
WEFT_API uint64_t weft_devices_incarnation(const weft_devices *d, int i);
/* Closes the sessions of the master at the target and clears resource containers (n 0: the default one) in its
 * cluster, so that variables and queues are deleted. */
WEFT_CHECKED weft_err weft_session_reset(const char *target, int n, const char *const *containers);

#ifdef __cplusplus
}
#endif
#endif
