/* run.c - `weft run SCRIPT.py ...`: hands the script to Python, which knows us as the module weft.
 *
 * The package is looked for where this program is: beside it in a build folder, or wherever Python finds it. */
#include "command.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

/* A build folder has bin/weft and python/weft, an installed tree lib/python3/dist-packages/weft: puts it in front of
 * PYTHONPATH. */
static void find_package(void) {
  static const char *const folders[] = {"python", "lib/python3/dist-packages"};
  char here[PATH_MAX], package[PATH_MAX + 64], path[2 * PATH_MAX + 64];
  ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
  if (n <= 0) return;
  here[n] = 0;
  for (int i = 0; i < 2; i++) { /* bin/weft, then bin */
    char *slash = strrchr(here, '/');
    if (!slash) return;
    *slash = 0;
  }
  const char *before = getenv("PYTHONPATH");
  for (int i = 0; i < 2; i++) {
    snprintf(package, sizeof package, "%s/%s/weft/__init__.py", here, folders[i]);
    if (access(package, R_OK) != 0) continue;
    snprintf(path, sizeof path, "%s/%s%s%s", here, folders[i], before ? ":" : "", before ? before : "");
    setenv("PYTHONPATH", path, 1);
    return;
  }
}

/* Is there a script?  Said here in one line, where Python would need a page. */
static int check_script(int argc, char **argv) {
  struct stat st;
  int i = 1;
  while (i < argc && strcmp(argv[i], "--python2") == 0) i++;
  if (i == argc) return cli_usage("run needs a script:", "weft run SCRIPT.py ARGUMENT...");
  if (argv[i][0] == '-') return cli_bad_option(argv[i]);
  if (access(argv[i], R_OK) != 0 || stat(argv[i], &st) != 0) return cli_failed(argv[i], strerror(errno));
  return S_ISDIR(st.st_mode) ? cli_failed(argv[i], "a folder, not a script") : DONE;
}

static int run(int argc, char **argv) {
  const char *python = getenv("WEFT_PYTHON_PROGRAM");
  const int code = check_script(argc, argv);
  if (code != DONE) return code;
  if (!python || !*python) python = "python3";
  char **args = calloc((size_t)argc + 3, sizeof *args);
  if (!args) return FAILED;
  args[0] = (char *)(uintptr_t)python;
  args[1] = (char *)(uintptr_t) "-m";
  args[2] = (char *)(uintptr_t) "weft";
  for (int i = 1; i < argc; i++) args[i + 2] = argv[i];
  find_package();
  execvp(python, args);
  fprintf(stderr, "weft: cannot start %s: %s; WEFT_PYTHON_PROGRAM names another\n", python, strerror(errno));
  free(args);
  return FAILED;
}

static const cli_flag flags[] = {{"--python2", NULL, "the script is Python 2, also where that cannot be told"}, {0}};

const cli_command cli_run = {
    .name = "run",
    .arguments = "[--python2] SCRIPT.py [ARGUMENT...]",
    .summary = "Run a TensorFlow 1 program as it stands.",
    .about =
        "The script runs in Python 3, where `import tensorflow` leads to the package weft.  Python 2 syntax is\n"
        "translated.  As a task of a cluster it takes TensorFlow's flags (--ps_hosts, --job_name, ...), which are\n"
        "filled in from TF_CONFIG, Slurm or MPI if the program asks for them and they are not given.",
    .flags = flags,
    .more =
        "Environment: WEFT_PYTHON_PROGRAM is the Python to use (python3; where that has no numpy, /usr/bin/python3).",
    .passes_on = true,
    .run = run,
};
