/* role.h - finds out which task of which cluster this process is.
 *
 * Sources, in this order: command-line flags, TF_CONFIG, Slurm's environment, MPI's.  Under Slurm and MPI the first
 * WEFT_NUM_PS ranks (1) are ps tasks and the rest are workers.  A task's port is WEFT_PORT (8888) plus its rank on its
 * host. */
#ifndef WEFT_CLUSTER_ROLE_H
#define WEFT_CLUSTER_ROLE_H

#include "cluster/spec.h"

typedef struct role {
  cluster cluster; /* empty if no source names one: the process runs alone */
  char *job;       /* "" if there is none */
  int task;
} role;

typedef const char *role_env(void *arg, const char *name); /* returns NULL if the variable is not set */

/* Flags: --ps_hosts a:1,b:1 (or any --JOB_hosts; also --parameter_servers and --workers), --job_name, --task_index or
 * --task_id; each with one dash or two, with '=' or a space.  Other arguments are ignored.  env is getenv, or a
 * replacement in tests.  The caller finishes *out, which is empty after an error.  INVALID_ARGUMENT names the flag or
 * the variable that cannot be used. */
weft_err weft__role_find(role *out, int argc, char *const *argv, role_env *env, void *arg);
void weft__role_finish(role *r);

#endif
