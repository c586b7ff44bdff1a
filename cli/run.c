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
#include <sys/wait.h>
#include <unistd.h>

#define SYSTEM_PYTHON "/usr/bin/python3"

/* The package beside this program, "FOLDER/weft": a build folder has bin/weft and python/weft, an installed tree
 * lib/python3/dist-packages/weft.  Writes FOLDER; false: there is none. */
static bool find_package(char *folder, size_t room) {
  static const char *const folders[] = {"python", "lib/python3/dist-packages"};
  char here[PATH_MAX], package[PATH_MAX + 64];
  ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
  if (n <= 0) return false;
  here[n] = 0;
  for (int i = 0; i < 2; i++) { /* bin/weft, then bin */
    char *slash = strrchr(here, '/');
    if (!slash) return false;
    *slash = 0;
  }
  for (int i = 0; i < 2; i++) {
    snprintf(package, sizeof package, "%s/%s/weft/__init__.py", here, folders[i]);
    if (access(package, R_OK) != 0) continue;
    snprintf(folder, room, "%s/%s", here, folders[i]);
    return true;
  }
  return false;
}

/* Puts the package beside this program in front of PYTHONPATH. */
static void set_python_path(void) {
  char folder[PATH_MAX + 64], path[2 * PATH_MAX + 64];
  if (!find_package(folder, sizeof folder)) return;
  const char *before = getenv("PYTHONPATH");
  snprintf(path, sizeof path, "%s%s%s", folder, before ? ":" : "", before ? before : "");
  setenv("PYTHONPATH", path, 1);
}

int cli_check_python(void) {
  char folder[PATH_MAX + 64], module[PATH_MAX + 96];
  if (!find_package(folder, sizeof folder)) return DONE; /* Python may find it elsewhere */
  snprintf(module, sizeof module, "%s/weft/_weft.abi3.so", folder);
  if (access(module, R_OK) == 0) return DONE;
  return cli_failed(module, errno != ENOENT ? strerror(errno)
                                            : "the Python part is not built; run scripts/setup, or build the target "
                                              "weft_python (without python3-dev there is none)");
}

/* Checks that the script exists, because the error is one line here and a traceback in Python. */
static int check_script(int argc, char **argv) {
  struct stat st;
  int i = 1;
  while (i < argc && strcmp(argv[i], "--python2") == 0) i++;
  if (i == argc) return cli_missing("SCRIPT.py");
  if (argv[i][0] == '-') return cli_bad_option(argv[i]);
  if (access(argv[i], R_OK) != 0 || stat(argv[i], &st) != 0) return cli_failed(argv[i], strerror(errno));
  return S_ISDIR(st.st_mode) ? cli_failed(argv[i], "a folder, not a script") : DONE;
}

/* Returns true if the python3 of PATH is the system's own. */
static bool is_system_python(void) {
  const char *path = getenv("PATH");
  char folders[8 * PATH_MAX], program[PATH_MAX], found[PATH_MAX], own[PATH_MAX], *rest = NULL;
  if (!path || !realpath(SYSTEM_PYTHON, own) || (size_t)snprintf(folders, sizeof folders, "%s", path) >= sizeof folders)
    return false;
  for (char *folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
    if ((size_t)snprintf(program, sizeof program, "%s/python3", folder) < sizeof program && access(program, X_OK) == 0)
      return realpath(program, found) && strcmp(found, own) == 0;
  }
  return false;
}

/* Runs the python3 of PATH.  Returns true if it has no numpy and is not of a virtual environment. */
static bool lacks_numpy(void) {
  static const char question[] = "import importlib.util as u, sys\n"
                                 "sys.exit(sys.prefix != sys.base_prefix or u.find_spec('numpy') is not None)";
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    execlp("python3", "python3", "-c", question, (char *)NULL);
    _exit(127);
  }
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The Python that runs scripts: the one the user named, or python3, or the system's where only that has numpy. */
static const char *choose_python(void) {
  const char *named = getenv("WEFT_PYTHON_PROGRAM");
  if (named && *named) return named;
  return access(SYSTEM_PYTHON, X_OK) == 0 && !is_system_python() && lacks_numpy() ? SYSTEM_PYTHON : "python3";
}

static int run_run(int argc, char **argv) {
  int code = check_script(argc, argv);
  if (code == DONE) code = cli_check_python();
  if (code != DONE) return code;
  const char *python = choose_python();
  char **args = calloc((size_t)argc + 3, sizeof *args);
  if (!args) return FAILED;
  args[0] = (char *)(uintptr_t)python;
  args[1] = (char *)(uintptr_t) "-m";
  args[2] = (char *)(uintptr_t) "weft";
  for (int i = 1; i < argc; i++) args[i + 2] = argv[i];
  set_python_path();
  execvp(python, args);
  fprintf(stderr, "weft run: cannot start %s: %s; WEFT_PYTHON_PROGRAM names another\n", python, strerror(errno));
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
    .run = run_run,
};
