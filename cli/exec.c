/* exec.c - `weft exec -- PROGRAM ...`: becomes PROGRAM as the task that Slurm, MPI or TF_CONFIG says this process is.
 *
 * Programs written for TensorFlow read from flags which task they are; launchers set variables.  This command finds the
 * task, appends the flags in the spelling that the program takes, sets TF_CONFIG, and becomes the program. */
#include "command.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const cli_command cli_run; /* run.c */

/* ---- what the program is told ---- */

static void write_hosts(FILE *to, const weft_cluster *c, const char *job, const char *before, const char *between) {
  for (int i = 0; i < weft_cluster_task_count(c, job); i++) {
    const char *address = weft_cluster_address(c, job, weft_cluster_task(c, job, i));
    fprintf(to, "%s%s", i ? between : before, address ? address : "");
  }
}

/* TF_CONFIG as Kubeflow's operator writes it.  Names and addresses were checked: they need no escapes. */
static char *tf_config(const weft_cluster *c, const char *job, int task) {
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (!to) return NULL;
  fprintf(to, "{\"cluster\": {");
  for (int j = 0; j < weft_cluster_job_count(c); j++) {
    fprintf(to, "%s\"%s\": [", j ? ", " : "", weft_cluster_job(c, j));
    write_hosts(to, c, weft_cluster_job(c, j), "\"", "\", \"");
    fprintf(to, "\"]");
  }
  fprintf(to, "}, \"task\": {\"type\": \"%s\", \"index\": %d}}", job, task);
  return fclose(to) == 0 ? text : NULL;
}

static char *hosts_flag(const weft_cluster *c, const char *job, const char *style) {
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (!to) return NULL;
  if (strcmp(style, "parameter_servers") == 0 && strcmp(job, "ps") == 0)
    fprintf(to, "--parameter_servers=");
  else if (strcmp(style, "parameter_servers") == 0 && strcmp(job, "worker") == 0)
    fprintf(to, "--workers=");
  else
    fprintf(to, "--%s_hosts=", job);
  write_hosts(to, c, job, "", ",");
  return fclose(to) == 0 ? text : NULL;
}

static char *exec_flag(const char *flag, const char *text, int number) {
  char buffer[512];
  if (text)
    snprintf(buffer, sizeof buffer, "--%s=%s", flag, text);
  else
    snprintf(buffer, sizeof buffer, "--%s=%d", flag, number);
  return strdup(buffer);
}

/* Appends the flags at args[n]; false if memory ran out. */
static bool add_flags(char **args, int n, const weft_cluster *c, const char *job, int task, const char *style) {
  const int first = n;
  if (strcmp(style, "none") == 0) return true;
  for (int j = 0; j < weft_cluster_job_count(c); j++) args[n++] = hosts_flag(c, weft_cluster_job(c, j), style);
  args[n++] = exec_flag("job_name", job, 0);
  args[n++] = exec_flag(strcmp(style, "task_id") == 0 ? "task_id" : "task_index", NULL, task);
  for (int i = first; i < n; i++)
    if (!args[i]) return false;
  return true;
}

/* ---- becoming it ---- */

/* Fills the arguments of `weft run` or of the program: its own arguments, then the flags of the task. */
static bool exec_fill(char **args, char **program, int n_program, const weft_cluster *c, const char *job, int task,
                      const char *style) {
  args[0] = (char *)(uintptr_t) "run"; /* what weft run gets as its own name */
  for (int i = 0; i < n_program; i++) args[i + 1] = program[i];
  return !c || add_flags(args, n_program + 1, c, job, task, style);
}

/* Replaces this process by the program.  c is NULL if no task was found. */
static int exec_become(char **program, int n_program, const weft_cluster *c, const char *job, int task,
                       const char *style) {
  char **args = calloc((size_t)n_program + 64 + (size_t)(c ? weft_cluster_job_count(c) : 0), sizeof *args);
  char *config = c ? tf_config(c, job, task) : NULL;
  int n = 0, code;
  if (!args || (c && !config) || (c && setenv("TF_CONFIG", config, 1) != 0) ||
      !exec_fill(args, program, n_program, c, job, task, style)) {
    code = cli_failed("exec", strerror(ENOMEM));
  } else if (cli_ends_with(program[0], ".py")) {
    while (args[n]) n++;
    code = cli_run.run(n, args);
  } else {
    execvp(args[1], args + 1);
    code = cli_failed(program[0], strerror(errno));
  }
  for (int i = n_program + 1; args && args[i]; i++) free(args[i]);
  free(args);
  free(config);
  return code;
}

static int exec_read_options(int argc, char **argv, const char **style, char **hosts) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
    const char *given, *arg = argv[i];
    if ((given = cli_option(argc, argv, &i, "--style")))
      *style = given;
    else if ((given = cli_option(argc, argv, &i, "--hosts")))
      *hosts = (char *)(uintptr_t)given;
    else
      return -cli_bad_option(arg);
  }
  if (i < argc && strcmp(argv[i], "--") == 0) i++;
  if (i >= argc) return -cli_missing("PROGRAM");
  const int code = cli_check_style(*style);
  return code == DONE ? i : -code;
}

static int exec_run(int argc, char **argv) {
  const char *style = "tf";
  char *hosts = NULL, *job = NULL, *role[] = {argv[0], (char *)(uintptr_t) "--hosts", NULL};
  weft_cluster *c = NULL;
  int task = 0;
  const int at = exec_read_options(argc, argv, &style, &hosts);
  if (at < 0) return -at;
  role[2] = hosts;
  const weft_err err = weft_role_find(&c, &job, &task, hosts ? 3 : 1, role);
  if (err != WEFT_OK) return cli_failed("exec", weft_error_message());
  const int code = exec_become(argv + at, argc - at, c, job, task, style);
  weft_cluster_destroy(c);
  weft_free(job);
  return code;
}

static const cli_flag flags[] = {
    {"--style", "tf|task_id|parameter_servers|none",
     "flags the program takes: tf (--ps_hosts --worker_hosts --job_name --task_index), task_id\n"
     "(--task_id instead), parameter_servers (--parameter_servers --workers ...), none"},
    {"--hosts", "A,B", "under MPI: the hosts, which ranks fill in order (localhost)"},
    {0},
};

const cli_command cli_exec = {
    .name = "exec",
    .arguments = "[--style STYLE] [--hosts A,B] -- PROGRAM [ARGUMENT...]",
    .summary = "Be PROGRAM as the task that Slurm, MPI or TF_CONFIG names.",
    .about = "Starts PROGRAM, an executable or a Python script (run by 'weft run'), as the task that TF_CONFIG, Slurm "
             "or MPI\n"
             "says this process is:\n\n"
             "  srun -n 3 weft exec -- train.py\n"
             "  mpirun -n 3 weft exec -- train.py",
    .flags = flags,
    .more =
        "Under Slurm and MPI the first WEFT_NUM_PS ranks (1) are ps and the rest workers.  TF_CONFIG is set in any\n"
        "style.  Without a cluster PROGRAM runs by itself.",
    .passes_on = true,
    .run = exec_run,
};
