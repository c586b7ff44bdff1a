/* role.c - reads the role of this process from flags and environment variables.
 *
 * Slurm's compressed host lists are expanded here, so that `scontrol` is not needed.  There is no state and no lock. */
#include "cluster/role.h"

#include "base/alloc.h"
#include "base/cast.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_BASE = 8888, NUMBER_MAX = 1 << 20, HOST_MAX = 4096 };

void weft__role_finish(role *r) {
  weft__cluster_finish(&r->cluster);
  weft__free(r->job);
  *r = (role){0};
}

static weft_err role_read_number(const char *what, const char *digits, int *out) {
  char *stop;
  long n = isdigit((unsigned char)*digits) ? strtol(digits, &stop, 10) : -1;
  if (n < 0 || n > NUMBER_MAX || *stop)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s is \"%s\", which is not a number from 0 to %d", what, digits,
                      NUMBER_MAX);
  *out = weft__int_sat(n);
  return WEFT_OK;
}

/* ---- flags ---- */

/* Returns the value of the flag at argv[i], or NULL if argv[i] is not a flag with a value.  Sets *name and *n. */
static const char *role_flag_at(int argc, char *const *argv, int i, const char **name, size_t *n) {
  const char *s = argv[i];
  if (s[0] != '-') return NULL;
  s += s[1] == '-' ? 2 : 1;
  *name = s;
  *n = strcspn(s, "=");
  if (s[*n] == '=') return s + *n + 1;
  return i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : NULL;
}

static bool role_flag_matches(const char *name, size_t n, const char *a, const char *b) {
  return (strlen(a) == n && memcmp(name, a, n) == 0) || (strlen(b) == n && memcmp(name, b, n) == 0);
}

/* Returns the job whose hosts the flag lists, or NULL if it is another flag.  The caller frees it.
 *
 * Programs have flags of the same names with other meanings: --workers=4 counts, --allowed_hosts=*.example.com filters.
 * So only --ps_hosts and --worker_hosts are always hosts; the other spellings are if the value has an address in it. */
static char *role_flag_job(const char *name, size_t n, const char *given) {
  static const char suffix[] = "_hosts";
  const size_t k = sizeof suffix - 1;
  if (role_flag_matches(name, n, "ps_hosts", "ps_hosts")) return weft__strdup("ps");
  if (role_flag_matches(name, n, "worker_hosts", "worker_hosts")) return weft__strdup("worker");
  if (!strchr(given, ':')) return NULL;
  if (role_flag_matches(name, n, "parameter_servers", "parameter_servers")) return weft__strdup("ps");
  if (role_flag_matches(name, n, "workers", "workers")) return weft__strdup("worker");
  return n > k && memcmp(name + n - k, suffix, k) == 0 ? weft__strndup(name, n - k) : NULL;
}

static weft_err role_read_flag(role *r, const char *name, size_t n, const char *given) {
  if (role_flag_matches(name, n, "job_name", "job_name")) {
    weft__free(r->job);
    return (r->job = weft__strdup(given)) ? WEFT_OK : WEFT_OOM;
  }
  if (role_flag_matches(name, n, "task_index", "task_index")) return role_read_number("--task_index", given, &r->task);
  if (role_flag_matches(name, n, "task_id", "task_id") && isdigit((unsigned char)*given))
    return role_read_number("--task_id", given, &r->task);
  char *job = *given ? role_flag_job(name, n, given) : NULL;
  if (!job) return WEFT_OK;
  weft_err err = weft__cluster_job(&r->cluster, job)
                     ? weft__fail(WEFT_INVALID_ARGUMENT, "the hosts of job %s are given twice", job)
                     : weft__cluster_add_hosts(&r->cluster, job, given);
  weft__free(job);
  return err;
}

static weft_err role_from_flags(role *r, int argc, char *const *argv) {
  r->task = -1;
  for (int i = 1; i < argc; i++) {
    const char *name;
    size_t n;
    const char *given = role_flag_at(argc, argv, i, &name, &n);
    if (given) WEFT_TRY(role_read_flag(r, name, n, given));
  }
  if (!r->cluster.n_job || (r->job && *r->job && r->task < 0)) r->task = r->task < 0 ? 0 : r->task;
  if (r->cluster.n_job && (!r->job || !*r->job))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "the hosts are given, but --job_name is not (give the job and --task_index of this process)");
  return WEFT_OK;
}

/* ---- ranks: Slurm and MPI ---- */

typedef struct ranks {
  int rank, size;
  int n_host;
  char *host[HOST_MAX];
  int per_host[HOST_MAX]; /* the number of ranks on each host */
} ranks;

static void ranks_destroy(ranks *k) {
  for (int i = 0; i < k->n_host; i++) weft__free(k->host[i]);
  weft__free(k);
}

static weft_err ranks_add_host(ranks *k, const char *name, size_t n) {
  if (k->n_host == HOST_MAX) return weft__fail(WEFT_INVALID_ARGUMENT, "the host list has more than %d hosts", HOST_MAX);
  k->host[k->n_host] = weft__strndup(name, n);
  return k->host[k->n_host] ? k->n_host++, WEFT_OK : WEFT_OOM;
}

/* Adds the hosts of one range inside brackets, "03-07" or "12", with the prefix and suffix around the brackets.  All
 * numbers are printed as wide as the first one. */
static weft_err ranks_add_range(ranks *k, const char *prefix, size_t n, const char *range, const char *suffix,
                                size_t m) {
  int first, last, width = weft__int_sat(strspn(range, "0123456789"));
  char name[WEFT_HOST_SIZE];
  int got = sscanf(range, "%d-%d", &first, &last);
  if (got < 1 || width > 9) return weft__fail(WEFT_INVALID_ARGUMENT, "cannot read \"%s\" as a range of hosts", range);
  if (got == 1) last = first;
  for (int i = first; i <= last; i++) {
    int size =
        snprintf(name, sizeof name, "%.*s%0*d%.*s", weft__int_sat(n), prefix, width, i, weft__int_sat(m), suffix);
    if (size >= (int)sizeof name)
      return weft__fail(WEFT_INVALID_ARGUMENT, "a host name has %d bytes, the limit is %zu", size, sizeof name - 1);
    WEFT_TRY(ranks_add_host(k, name, (size_t)size));
  }
  return WEFT_OK;
}

/* Adds the hosts of one entry of Slurm's list: "login" or "node[1-3,07]" or "rack[1-2]x". */
static weft_err ranks_expand_entry(ranks *k, const char *entry, size_t n) {
  const char *open = memchr(entry, '[', n), *close = open ? memchr(open, ']', n - (size_t)(open - entry)) : NULL;
  if (!open) return n ? ranks_add_host(k, entry, n) : WEFT_OK;
  if (!close)
    return weft__fail(WEFT_INVALID_ARGUMENT, "host list: \"%.*s\" has no closing bracket", weft__int_sat(n), entry);
  for (const char *range = open + 1; range < close;) {
    WEFT_TRY(ranks_add_range(k, entry, (size_t)(open - entry), range, close + 1, n - (size_t)(close + 1 - entry)));
    range += strcspn(range, ",]") + 1;
  }
  return WEFT_OK;
}

/* Expands Slurm's list, whose entries are separated by commas outside brackets. */
static weft_err ranks_expand_hosts(ranks *k, const char *list) {
  for (const char *s = list; *s;) {
    size_t n = 0;
    for (bool inside = false; s[n] && (inside || s[n] != ','); n++) inside = s[n] == '[' || (inside && s[n] != ']');
    WEFT_TRY(ranks_expand_entry(k, s, n));
    s += n + (s[n] == ',');
  }
  return k->n_host ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "the host list is empty");
}

/* Reads the number of ranks of each host, "2(x3),1": two on each of the first three hosts, one on the fourth. */
static weft_err ranks_read_per_host(ranks *k, const char *counts) {
  int i = 0;
  for (const char *s = counts; s && *s && i < k->n_host;) {
    int n = 0, times = 1, used = 0;
    if (sscanf(s, "%d%n", &n, &used) != 1 || n < 0) break;
    s += used;
    if (sscanf(s, "(x%d)%n", &times, &used) == 1) s += used;
    while (times-- > 0 && i < k->n_host) k->per_host[i++] = n;
    s += *s == ',';
  }
  int all = 0;
  for (int j = 0; j < k->n_host; j++) all += k->per_host[j];
  if (all == k->size) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "%d tasks on %d hosts, but \"%s\" makes %d", k->size, k->n_host,
                    counts ? counts : "", all);
}

/* Makes the ranks ps and worker tasks, host after host, and finds the task of this process. */
static weft_err role_assign_ranks(role *r, const ranks *k, role_env *env, void *arg) {
  int n_ps = 1, rank = 0, port = PORT_BASE;
  char address[WEFT_HOST_SIZE + 16];
  const char *num_ps = env(arg, "WEFT_NUM_PS"), *first_port = env(arg, "WEFT_PORT");
  if (num_ps) WEFT_TRY(role_read_number("WEFT_NUM_PS", num_ps, &n_ps));
  if (first_port) WEFT_TRY(role_read_number("WEFT_PORT", first_port, &port));
  if (n_ps >= k->size || k->rank >= k->size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "rank %d of %d with %d ps leaves no worker (lower WEFT_NUM_PS)", k->rank,
                      k->size, n_ps);
  for (int i = 0; i < k->n_host; i++)
    for (int j = 0; j < k->per_host[i]; j++, rank++) {
      snprintf(address, sizeof address, strchr(k->host[i], ':') ? "[%s]:%d" : "%s:%d", k->host[i], port + j);
      bool ps = rank < n_ps;
      WEFT_TRY(weft__cluster_add(&r->cluster, ps ? "ps" : "worker", ps ? rank : rank - n_ps, address));
    }
  bool ps = k->rank < n_ps;
  r->task = ps ? k->rank : k->rank - n_ps;
  return (r->job = weft__strdup(ps ? "ps" : "worker")) ? WEFT_OK : WEFT_OOM;
}

static const char *role_env_either(role_env *env, void *arg, const char *a, const char *b) {
  const char *found = env(arg, a);
  return found ? found : env(arg, b);
}

static weft_err role_from_slurm(role *r, ranks *k, role_env *env, void *arg) {
  const char *rank = env(arg, "SLURM_PROCID"),
             *size = role_env_either(env, arg, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
  const char *hosts = role_env_either(env, arg, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
  const char *counts = role_env_either(env, arg, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
  if (!rank || !size || !hosts) return WEFT_OK;
  WEFT_TRY(role_read_number("SLURM_PROCID", rank, &k->rank));
  WEFT_TRY(role_read_number("SLURM_NTASKS", size, &k->size));
  if (k->size < 2) return WEFT_OK;
  WEFT_TRY(ranks_expand_hosts(k, hosts));
  WEFT_TRY(ranks_read_per_host(k, counts));
  return role_assign_ranks(r, k, env, arg);
}

static const char *role_hosts_flag(int argc, char *const *argv) {
  for (int i = 1; i < argc; i++) {
    const char *name;
    size_t n;
    const char *given = role_flag_at(argc, argv, i, &name, &n);
    if (given && role_flag_matches(name, n, "hosts", "hosts")) return given;
  }
  return "localhost";
}

/* MPI does not say how ranks are distributed: they are taken to fill the hosts evenly, in order. */
static weft_err role_from_mpi(role *r, ranks *k, int argc, char *const *argv, role_env *env, void *arg) {
  const char *rank = role_env_either(env, arg, "OMPI_COMM_WORLD_RANK", "PMI_RANK");
  const char *size = role_env_either(env, arg, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
  if (!rank || !size) return WEFT_OK;
  WEFT_TRY(role_read_number("the rank", rank, &k->rank));
  WEFT_TRY(role_read_number("the number of ranks", size, &k->size));
  if (k->size < 2) return WEFT_OK;
  WEFT_TRY(ranks_expand_hosts(k, role_hosts_flag(argc, argv)));
  for (int i = 0, left = k->size; i < k->n_host; i++) {
    k->per_host[i] = (left + k->n_host - i - 1) / (k->n_host - i);
    left -= k->per_host[i];
  }
  return role_assign_ranks(r, k, env, arg);
}

/* ---- all sources, in order ---- */

static weft_err role_from_tf_config(role *r, const char *config) {
  weft__free(r->job);
  r->job = NULL;
  return weft__cluster_from_tf_config(&r->cluster, config, &r->job, &r->task);
}

static weft_err role_search(role *r, int argc, char *const *argv, role_env *env, void *arg) {
  const char *config = env(arg, "TF_CONFIG");
  WEFT_TRY(role_from_flags(r, argc, argv));
  if (r->cluster.n_job) return WEFT_OK;
  if (config && *config) return role_from_tf_config(r, config);
  ranks *k = weft__alloc_zero(1, sizeof *k);
  if (!k) return WEFT_OOM;
  weft_err err = role_from_slurm(r, k, env, arg);
  if (!err && !r->cluster.n_job && k->n_host == 0) err = role_from_mpi(r, k, argc, argv, env, arg);
  ranks_destroy(k);
  return err;
}

weft_err weft__role_find(role *out, int argc, char *const *argv, role_env *env, void *arg) {
  *out = (role){0};
  weft_err err = role_search(out, argc, argv, env, arg);
  if (!err && !out->job && !(out->job = weft__strdup(""))) err = WEFT_OOM;
  if (err) weft__role_finish(out);
  return err;
}
