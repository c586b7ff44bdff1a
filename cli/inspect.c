/* inspect.c - `weft inspect`: recognises what a path is, by name and first bytes, and says what it holds. */
#include "inspect.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096 };

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* weft_checkpoint_exists takes files of version 1 too, which is any file. */
static bool has_index(const char *prefix) {
  char index[PATH_ROOM + 8];
  struct stat st;
  snprintf(index, sizeof index, "%s.index", prefix);
  return stat(index, &st) == 0 && S_ISREG(st.st_mode);
}

static bool has_events(const char *folder) {
  char pattern[PATH_ROOM];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*tfevents*", folder);
  const bool any = glob(pattern, 0, NULL, &found) == 0;
  globfree(&found);
  return any;
}

/* The prefix that a path means: itself, without ".index", or the latest of a folder.  False if it is no checkpoint's. */
static bool find_checkpoint(char *prefix, const char *path) {
  char *latest = NULL;
  snprintf(prefix, PATH_ROOM, "%s", path);
  if (has_index(prefix)) return true;
  if (cli_ends_with(prefix, ".index")) prefix[strlen(prefix) - strlen(".index")] = 0;
  if (is_folder(path) && weft_checkpoint_latest(&latest, path, NULL) == WEFT_OK && latest)
    snprintf(prefix, PATH_ROOM, "%s", latest);
  weft_free(latest);
  return has_index(prefix);
}

/* Two zeros, a type, a rank: the first bytes of an idx file.  A gzipped one is known by its name. */
static bool is_idx(const char *path) {
  unsigned char magic[4] = {1};
  const char *name = strrchr(path, '/');
  FILE *f = fopen(path, "rb");
  const size_t got = f ? fread(magic, 1, sizeof magic, f) : 0;
  if (f) fclose(f);
  if (got == 4 && !magic[0] && !magic[1]) return magic[2] >= 8 && magic[2] <= 14 && magic[3] <= 8;
  return cli_ends_with(path, ".gz") && strstr(name ? name : path, "idx");
}

static int inspect_folder(const char *path, const char *tag) {
  char prefix[PATH_ROOM];
  const bool checkpoint = !tag && find_checkpoint(prefix, path), events = has_events(path);
  if (!checkpoint && !events) return cli_failed(path, "a folder with neither a checkpoint nor events");
  int code = checkpoint ? inspect_checkpoint(prefix, NULL) : DONE;
  if (checkpoint && events) printf("\n");
  return code == DONE && events ? inspect_events(path, tag) : code;
}

static int inspect_one(const char *path, const char *values, const char *tag) {
  char prefix[PATH_ROOM];
  if (strlen(path) > PATH_ROOM / 2) return cli_failed(path, "the path is too long");
  if (values)
    return find_checkpoint(prefix, path) ? inspect_checkpoint(prefix, values)
                                         : cli_failed(path, "--values is for checkpoints, and there is none");
  if (is_folder(path)) return inspect_folder(path, tag);
  if (strstr(path, "tfevents") || tag) return inspect_events(path, tag);
  if (find_checkpoint(prefix, path)) return inspect_checkpoint(prefix, NULL);
  FILE *f = fopen(path, "rb");
  if (!f) return cli_failed(path, strerror(errno));
  fclose(f);
  if (cli_ends_with(path, ".pb") || cli_ends_with(path, ".meta"))
    return inspect_graph(path, cli_ends_with(path, ".meta"));
  if (cli_ends_with(path, ".pbtxt"))
    return cli_failed(path, "text is not read; a .meta beside a checkpoint has the graph");
  return is_idx(path) ? inspect_idx(path) : inspect_records(path);
}

static int inspect_two(const char *path_a, const char *path_b) {
  char a[PATH_ROOM], b[PATH_ROOM];
  if (strlen(path_a) > PATH_ROOM / 2 || strlen(path_b) > PATH_ROOM / 2)
    return cli_failed(path_a, "the paths are too long");
  if (!find_checkpoint(a, path_a)) return cli_failed(path_a, "no checkpoint, and only those can be compared");
  if (!find_checkpoint(b, path_b)) return cli_failed(path_b, "no checkpoint, and only those can be compared");
  return inspect_difference(a, b);
}

static int run(int argc, char **argv) {
  const char *path[2] = {NULL}, *values = NULL, *tag = NULL, *given;
  int n = 0;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if ((given = cli_option(argc, argv, &i, "--values")))
      values = given;
    else if ((given = cli_option(argc, argv, &i, "--tag")))
      tag = given;
    else if (arg[0] == '-')
      return cli_bad_option(arg);
    else if (n == 2)
      return cli_usage("inspect takes one path, or two checkpoints; there is a third:", arg);
    else
      path[n++] = arg;
  }
  if (n == 0) return cli_usage("inspect: there is no", "PATH");
  if (values && tag) return cli_usage("inspect: --tag is for events and --values for checkpoints; not both with", tag);
  if (n == 2 && (values || tag))
    return cli_usage("inspect: two checkpoints are compared whole, without", values ? "--values" : "--tag");
  return n == 2 ? inspect_two(path[0], path[1]) : inspect_one(path[0], values, tag);
}

static const cli_flag flags[] = {
    {"--values", "NAME", "of a checkpoint: one tensor's statistics and first elements"},
    {"--tag", "TAG", "of events: only this tag"},
    {0},
};

const cli_command cli_inspect = {
    .name = "inspect",
    .arguments = "PATH [--values NAME] [--tag TAG]\nCHECKPOINT CHECKPOINT",
    .summary = "Say what a checkpoint, graph, events or data file holds.",
    .about = "What PATH holds:\n"
             "  a checkpoint (its prefix, or a folder with a file `checkpoint`): names, types, shapes and bytes\n"
             "  two checkpoints: what differs; the exit code is 1 if anything does\n"
             "  a graph (.pb) or meta graph (.meta): its ops by device, counted\n"
             "  events (a file, or a folder of such): scalars by step\n"
             "  TFRecords: how many there are, every checksum verified, the features of the first Examples\n"
             "  an idx file of MNIST, plain or gzipped: its type and dimensions",
    .flags = flags,
    .run = run,
};
