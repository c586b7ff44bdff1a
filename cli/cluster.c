/* cluster.c - the cluster that a command line means: --cluster, the flags of TensorFlow's programs, the environment. */
#include "command.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

weft_err cli_read_cluster(weft_cluster **out, const char *given) {
  char why[256];
  const bool is_file = !strchr(given, '=') && !strchr(given, '{');
  FILE *f = is_file ? fopen(given, "r") : NULL;
  char *text = f ? malloc(TEXT_MAX) : NULL;
  if (is_file && !f) {
    snprintf(why, sizeof why, "%.100s: %s; neither a file nor 'ps=host:port;worker=host:port,host:port'", given,
             strerror(errno));
    return weft_fail(WEFT_NOT_FOUND, why);
  }
  if (text) text[fread(text, 1, TEXT_MAX - 1, f)] = 0;
  if (f) fclose(f);
  weft_err err = weft_cluster_parse(out, text ? text : given);
  free(text);
  return err;
}

/* Finds the job that a flag of TensorFlow's programs gives hosts for: ps of "--ps_hosts".  Returns false for other
 * flags. */
static bool job_of(char *job, size_t room, const char *flag) {
  const size_t n = strlen(flag), tail = strlen("_hosts");
  if (strcmp(flag, "--parameter_servers") == 0)
    snprintf(job, room, "ps");
  else if (strcmp(flag, "--workers") == 0)
    snprintf(job, room, "worker");
  else if (n > 2 + tail && strncmp(flag, "--", 2) == 0 && strcmp(flag + n - tail, "_hosts") == 0)
    snprintf(job, room, "%.*s", (int)(n - 2 - tail), flag + 2);
  else
    return false;
  return true;
}

bool cli_cluster_flag(cli_cluster *k, int argc, char **argv, int *i, int *code) {
  static const char *const role[] = {"--job_name", "--task_index", "--task_id"}; /* which task it is does not matter */
  char flag[128], job[128];
  const char *arg = argv[*i], *value;
  *code = DONE;
  if ((value = cli_option(argc, argv, i, "--cluster"))) return k->given = value, true;
  for (int r = 0; r < 3; r++)
    if (cli_option(argc, argv, i, role[r])) return true;
  snprintf(flag, sizeof flag, "%.*s", (int)strcspn(arg, "="), arg);
  if (!job_of(job, sizeof job, flag) || !(value = cli_option(argc, argv, i, flag))) return false;
  weft_err err = k->hosts ? WEFT_OK : weft_cluster_create(&k->hosts);
  if (err == WEFT_OK) err = weft_cluster_add_hosts(k->hosts, job, value);
  if (err != WEFT_OK) *code = cli_failed(arg, weft_error_message());
  return true;
}

int cli_cluster_find(weft_cluster **out, cli_cluster *k) {
  char *job = NULL, nobody[] = "weft", *argv[] = {nobody, NULL};
  int task;
  weft_err err = WEFT_OK;
  *out = NULL;
  if (k->given)
    err = cli_read_cluster(out, k->given);
  else if (k->hosts)
    *out = k->hosts;
  else
    err = weft_role_find(out, &job, &task, 1, argv);
  if (k->given) weft_cluster_destroy(k->hosts);
  weft_free(job);
  if (err == WEFT_OK && !*out) {
    char *local = cli_local_find();
    if (local) err = weft_cluster_parse(out, local);
    free(local);
  }
  if (err != WEFT_OK) return cli_failed(k->given ? "--cluster" : "the environment's cluster", weft_error_message());
  if (!*out) return cli_missing("--cluster CLUSTER");
  cli_private_find(*out);
  return DONE;
}
