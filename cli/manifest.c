/* manifest.c - `weft manifest KIND`: the text that an orchestrator wants, for a cluster of so many tasks.
 *
 * Kubernetes gets a headless service and two indexed jobs: a pod keeps its name when it is replaced, and a job that is
 * over ends its pods, which suits tasks that end by themselves.  Kubeflow's TFJob sets TF_CONFIG; for the others it is
 * written here.  In each, `weft exec` turns it into the flags a program takes. */
#include "command.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TASKS = 1000, NAME_MAX_SIZE = 40, MOST_GPUS = 64 };

typedef struct manifest_plan {
  const char *image, *name, *style, *volume, *secret;
  int ps, workers, port, gpus;
  int n_program;
  char **program;
} manifest_plan;

typedef struct kind {
  const char *name;
  bool image; /* is one needed? */
  void (*print)(const manifest_plan *);
} kind;

/* ---- pieces ------------------------------------------------------------------------------------ */

/* A scalar in double quotes: JSON's rules are within YAML's.  dollar: what a '$' becomes. */
static void manifest_put_quoted(const char *text, const char *dollar) {
  putchar('"');
  for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
    if (*s == '"' || *s == '\\')
      printf("\\%c", *s);
    else if (*s < 0x20 || *s == 0x7f)
      printf("\\u%04x", *s);
    else if (*s == '$')
      fputs(dollar, stdout);
    else
      putchar(*s);
  }
  putchar('"');
}

/* The command of a container as a list. */
static void put_command(const manifest_plan *p, const char *dollar) {
  if (!p->n_program) {
    printf("[\"weft\", \"serve\"]\n");
    return;
  }
  printf("[\"weft\", \"exec\", \"--style\", \"%s\", \"--\"", p->style);
  for (int i = 0; i < p->n_program; i++) {
    printf(", ");
    manifest_put_quoted(p->program[i], dollar);
  }
  printf("]\n");
}

static int tasks_of(const manifest_plan *p, const char *job) { return strcmp(job, "ps") == 0 ? p->ps : p->workers; }

/* TF_CONFIG in single quotes; format makes the host of a task of its job and index, index is this one's. */
static void put_tf_config(const manifest_plan *p, const char *prefix, const char *suffix, const char *job,
                          const char *index) {
  bool first = true;
  printf("'{\"cluster\": {");
  for (int j = 0; j < 2; j++) {
    const char *name = j ? "worker" : "ps";
    if (!tasks_of(p, name)) continue;
    printf("%s\"%s\": [", first ? "" : ", ", name);
    for (int i = 0; i < tasks_of(p, name); i++)
      printf("%s\"%s%s-%d%s:%d\"", i ? ", " : "", prefix, name, i, suffix, p->port);
    printf("]");
    first = false;
  }
  printf("}, \"task\": {\"type\": \"%s\", \"index\": %s}}'\n", job, index);
}

/* FROM:PATH apart; false if there is no PATH. */
static bool split_volume(const char *volume, char *from, size_t room, const char **path) {
  const char *colon = strrchr(volume, ':');
  if (!colon || colon == volume || colon[1] != '/') return false;
  *path = colon + 1;
  return snprintf(from, room, "%.*s", (int)(colon - volume), volume) < (int)room;
}

/* ---- Kubernetes and Kubeflow ------------------------------------------------------------------- */

static void manifest_line(int indent, const char *text) { printf("%*s%s\n", indent, "", text); }

static void put_secret(const manifest_plan *p, int indent) {
  if (!p->secret) return;
  manifest_line(indent, "- name: WEFT_TOKEN");
  printf("%*s  valueFrom: {secretKeyRef: {name: ", indent, "");
  manifest_put_quoted(p->secret, "$");
  printf(", key: token}}\n");
}

/* What a pod's container has besides its environment. */
static void put_container(const manifest_plan *p, int indent, const char *job, const char *name, const char *port) {
  printf("%*s- name: %s\n", indent, "", name);
  printf("%*s  image: ", indent, "");
  manifest_put_quoted(p->image, "$");
  printf("\n%*s  command: ", indent, "");
  put_command(p, "$$");
  printf("%*s  ports: [{name: %s, containerPort: %d}]\n", indent, "", port, p->port);
  if (p->gpus && strcmp(job, "worker") == 0)
    printf("%*s  resources: {limits: {nvidia.com/gpu: %d}}\n", indent, "", p->gpus);
  const char *path;
  char from[256];
  if (p->volume && split_volume(p->volume, from, sizeof from, &path)) {
    printf("%*s  volumeMounts: [{name: data, mountPath: ", indent, "");
    manifest_put_quoted(path, "$");
    printf("}]\n");
  }
}

static void put_volume(const manifest_plan *p, int indent) {
  const char *path;
  char from[256];
  if (!p->volume || !split_volume(p->volume, from, sizeof from, &path)) return;
  printf("%*svolumes: [{name: data, persistentVolumeClaim: {claimName: ", indent, "");
  manifest_put_quoted(from, "$");
  printf("}}]\n");
}

static void print_service(const manifest_plan *p) {
  printf("# kubectl apply -f this; kubectl logs -f job/%s-worker; kubectl delete -f this\n", p->name);
  printf("apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\n  labels: {app.kubernetes.io/name: %s}\n", p->name,
         p->name);
  printf("spec: # names for the pods, from before they are ready: tasks look for one another while they start\n"
         "  clusterIP: None\n  publishNotReadyAddresses: true\n  selector: {app.kubernetes.io/name: %s}\n"
         "  ports: [{name: grpc, port: %d}]\n",
         p->name, p->port);
}

static void print_job(const manifest_plan *p, const char *job) {
  char prefix[2 * NAME_MAX_SIZE], suffix[2 * NAME_MAX_SIZE];
  const int n = tasks_of(p, job);
  if (!n) return;
  printf("---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: %s-%s\n  labels: {app.kubernetes.io/name: %s}\n",
         p->name, job, p->name);
  printf("spec:\n  completionMode: Indexed\n  completions: %d\n  parallelism: %d\n  backoffLimit: 100\n", n, n);
  printf("  template:\n    metadata:\n      labels: {app.kubernetes.io/name: %s, app.kubernetes.io/component: %s}\n",
         p->name, job);
  printf("    spec:\n      subdomain: %s\n      restartPolicy: OnFailure\n", p->name);
  put_volume(p, 6);
  manifest_line(6, "containers:");
  put_container(p, 8, job, "weft", "grpc");
  manifest_line(10, "env:");
  manifest_line(12, "- name: TASK_INDEX");
  manifest_line(
      12, "  valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['batch.kubernetes.io/job-completion-index']\"}}");
  manifest_line(12, "- name: TF_CONFIG");
  printf("%*svalue: ", 14, "");
  snprintf(prefix, sizeof prefix, "%s-", p->name);
  snprintf(suffix, sizeof suffix, ".%s", p->name);
  put_tf_config(p, prefix, suffix, job, "$(TASK_INDEX)");
  printf("%*s- {name: WEFT_BIND, value: \"0.0.0.0:%d\"}\n", 12, "", p->port);
  put_secret(p, 12);
}

static void print_kubernetes(const manifest_plan *p) {
  print_service(p);
  print_job(p, "ps");
  print_job(p, "worker");
}

static void print_replicas(const manifest_plan *p, const char *job, const char *name) {
  if (!tasks_of(p, job)) return;
  printf("    %s:\n      replicas: %d\n      restartPolicy: OnFailure\n      template:\n        spec:\n", name,
         tasks_of(p, job));
  put_volume(p, 10);
  manifest_line(10, "containers:");
  put_container(p, 12, job, "tensorflow", "tfjob-port"); /* the names that the operator looks for */
  manifest_line(14, "env:");
  printf("%*s- {name: WEFT_BIND, value: \"0.0.0.0:%d\"}\n", 16, "", p->port);
  put_secret(p, 16);
}

static void print_tfjob(const manifest_plan *p) {
  printf("# kubectl apply -f this; the operator sets TF_CONFIG in every pod\n");
  printf("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata:\n  name: %s\nspec:\n", p->name);
  printf("  runPolicy: {cleanPodPolicy: Running}\n  tfReplicaSpecs:\n");
  print_replicas(p, "ps", "PS");
  print_replicas(p, "worker", "Worker");
}

/* ---- Compose and Slurm ------------------------------------------------------------------------- */

static void print_compose_task(const manifest_plan *p, const char *job, int index) {
  char number[16];
  snprintf(number, sizeof number, "%d", index);
  printf("  %s-%d:\n    image: ", job, index);
  manifest_put_quoted(p->image, "$$");
  printf("\n    command: ");
  put_command(p, "$$");
  printf("    restart: on-failure\n    environment:\n      WEFT_TOKEN:\n      TF_CONFIG: ");
  put_tf_config(p, "", "", job, number);
  if (p->volume) {
    printf("    volumes: [");
    manifest_put_quoted(p->volume, "$$");
    printf("]\n");
  }
  if (p->gpus && strcmp(job, "worker") == 0)
    printf("    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: %d, capabilities: [gpu]}]}}}\n",
           p->gpus);
}

static void print_compose(const manifest_plan *p) {
  const char *path;
  char from[256];
  printf("# docker compose -p %s -f this up\nservices:\n", p->name);
  for (int i = 0; i < p->ps; i++) print_compose_task(p, "ps", i);
  for (int i = 0; i < p->workers; i++) print_compose_task(p, "worker", i);
  if (p->volume && split_volume(p->volume, from, sizeof from, &path) && !strchr("./~", from[0]))
    printf("volumes:\n  %s: {}\n", from);
}

/* In single quotes for a shell. */
static void put_shell_word(const char *text) {
  printf(" '");
  for (const char *s = text; *s; s++) *s == '\'' ? fputs("'\\''", stdout) : putchar(*s);
  putchar('\'');
}

static void print_slurm(const manifest_plan *p) {
  printf("#!/bin/sh\n# sbatch this: one ntask for each task of the cluster; the first %d are ps\n", p->ps);
  printf("#SBATCH --job-name=%s\n#SBATCH --ntasks=%d\n", p->name, p->ps + p->workers);
  if (p->gpus) printf("#SBATCH --gpus-per-task=%d\n", p->gpus);
  printf("export WEFT_NUM_PS=%d\n", p->ps);
  printf("export WEFT_PORT=$((10000 + SLURM_JOB_ID %% 1000 * 20)) # jobs that share a host keep apart\n");
  printf("exec srun --kill-on-bad-exit=1 weft %s", p->n_program ? "exec --style" : "serve\n");
  if (!p->n_program) return;
  put_shell_word(p->style);
  printf(" --");
  for (int i = 0; i < p->n_program; i++) put_shell_word(p->program[i]);
  printf("\n");
}

/* ---- the command line -------------------------------------------------------------------------- */

static const kind kinds[] = {
    {"kubernetes", true, print_kubernetes},
    {"tfjob", true, print_tfjob},
    {"compose", true, print_compose},
    {"slurm", false, print_slurm},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Returns true if Kubernetes accepts the name for a service. */
static bool is_name(const char *s) {
  const size_t n = strlen(s);
  if (n == 0 || n > NAME_MAX_SIZE || !islower((unsigned char)s[0]) || s[n - 1] == '-') return false;
  return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* Reads one option at argv[*i].  Returns false if it is not one; then *value is NULL, or the value that is invalid. */
static bool read_option(manifest_plan *p, int argc, char **argv, int *i, const char **value) {
  const char *v, *path;
  char from[256];
  if ((*value = v = cli_option(argc, argv, i, "--ps"))) return cli_number(v, 0, MOST_TASKS, &p->ps);
  if ((*value = v = cli_option(argc, argv, i, "--workers"))) return cli_number(v, 1, MOST_TASKS, &p->workers);
  if ((*value = v = cli_option(argc, argv, i, "--port"))) return cli_number(v, 1, 65535, &p->port);
  if ((*value = v = cli_option(argc, argv, i, "--gpus"))) return cli_number(v, 0, MOST_GPUS, &p->gpus);
  if ((*value = v = cli_option(argc, argv, i, "--image"))) return *(p->image = v) != 0;
  if ((*value = v = cli_option(argc, argv, i, "--name"))) return is_name(p->name = v);
  if ((*value = v = cli_option(argc, argv, i, "--style"))) return *(p->style = v) != 0;
  if ((*value = v = cli_option(argc, argv, i, "--token-secret"))) return is_name(p->secret = v);
  if ((*value = v = cli_option(argc, argv, i, "--volume")))
    return split_volume(p->volume = v, from, sizeof from, &path);
  return false;
}

static int manifest_read_options(manifest_plan *p, int argc, char **argv) {
  int i = 2;
  for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
    const char *arg = argv[i], *value = NULL;
    char option[64];
    if (read_option(p, argc, argv, &i, &value)) continue;
    if (!value) return cli_bad_option(arg);
    snprintf(option, sizeof option, "%.*s", (int)strcspn(arg, "="), arg);
    return cli_invalid(option, "value", value, NULL);
  }
  if (i < argc && strcmp(argv[i], "--") == 0) i++;
  p->program = argv + i;
  p->n_program = argc - i;
  return cli_check_style(p->style);
}

static int manifest_run(int argc, char **argv) {
  manifest_plan p = {.ps = 1, .workers = 2, .port = 2222, .name = "weft", .style = "tf"};
  const kind *k = NULL;
  if (argc > 1 && argv[1][0] == '-') return cli_bad_option(argv[1]);
  const char *known[KINDS];
  if (argc < 2) return cli_missing("kubernetes, tfjob, compose or slurm");
  for (int i = 0; i < KINDS; i++) {
    known[i] = kinds[i].name;
    if (strcmp(argv[1], known[i]) == 0) k = &kinds[i];
  }
  if (!k) return cli_unknown("kind", argv[1], known, KINDS);
  const int code = manifest_read_options(&p, argc, argv);
  if (code != DONE) return code;
  if (k->image && !p.image) return cli_missing("--image IMAGE");
  k->print(&p);
  return DONE;
}

static const cli_flag flags[] = {
    {"--ps", "N", "parameter servers (1)"},
    {"--workers", "N", "workers (2)"},
    {"--image", "IMAGE", "the container image, with weft in it (deploy/Dockerfile); not for slurm"},
    {"--name", "NAME", "of the job: lower-case letters, digits, '-' (weft)"},
    {"--port", "N", "each task's port (2222); not for slurm"},
    {"--gpus", "N", "GPUs of each worker (0)"},
    {"--volume", "FROM:PATH",
     "mounted at PATH in every task: a PersistentVolumeClaim, or a folder or volume of Docker's"},
    {"--token-secret", "NAME", "a Secret whose key 'token' is WEFT_TOKEN; Kubernetes and Kubeflow only"},
    {"--style", "tf|task_id|parameter_servers|none", "flags the program takes, as in weft launch (tf)"},
    {0},
};

const cli_command cli_manifest = {
    .name = "manifest",
    .arguments = "KIND [OPTION...] [-- PROGRAM ARGUMENT...]",
    .summary = "Print what Kubernetes, Kubeflow, Compose or Slurm run.",
    .about = "Prints what runs PROGRAM as a cluster; bare tasks (weft serve) without PROGRAM.  KIND is one of\n"
             "  kubernetes    a service and two indexed jobs, for kubectl apply -f -\n"
             "  tfjob         a TFJob of Kubeflow's training operator\n"
             "  compose       a file for docker compose -f - up\n"
             "  slurm         a batch script for sbatch",
    .flags = flags,
    .run = manifest_run,
};
