/* inspect.c - `weft inspect`: recognizes what a path is, by name and first bytes, and says what it holds. */
#include "inspect.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096, MOST_PATHS = 64 };

typedef struct request {
  const char *values, *tag, *dot;
  bool plot, json;
} request;

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

static bool is_named(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* The folder that a file lies in. */
static void folder_of(char *folder, const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(folder, PATH_ROOM, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* The prefix that a path means: itself, without ".index" or ".data-00000-of-00001", or the latest of a folder, which
 * the file `checkpoint` in it stands for too.  False if it is no checkpoint's. */
static bool find_checkpoint(char *prefix, const char *path) {
  char *latest = NULL, folder[PATH_ROOM];
  snprintf(prefix, PATH_ROOM, "%s", path);
  if (has_index(prefix)) return true;
  char *shard = strstr(prefix, ".data-");
  if (cli_ends_with(prefix, ".index")) prefix[strlen(prefix) - strlen(".index")] = 0;
  if (shard && !strchr(shard, '/')) *shard = 0;
  snprintf(folder, sizeof folder, "%s", path);
  if (is_named(path, "checkpoint") && !is_folder(path)) folder_of(folder, path);
  if (is_folder(folder) && weft_checkpoint_latest(&latest, folder, NULL) == WEFT_OK && latest)
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

static bool has_saved_model(const char *folder) {
  char file[PATH_ROOM + 16];
  struct stat st;
  snprintf(file, sizeof file, "%s/saved_model.pb", folder);
  return stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

static int inspect_folder(const char *path, const request *r) {
  char prefix[PATH_ROOM];
  const bool checkpoint = !r->tag && !r->plot && find_checkpoint(prefix, path), events = has_events(path);
  if (!checkpoint && !events) {
    if (has_saved_model(path)) return inspect_saved_model(path);
    return cli_failed(path, "a folder without a checkpoint, events or a SavedModel");
  }
  int code = checkpoint ? inspect_checkpoint(prefix, NULL) : DONE;
  if (checkpoint && events && !inspect_json) printf("\n");
  return code == DONE && events ? inspect_events(&path, 1, r->tag, r->plot) : code;
}

/* Inspects the folder of FOLDER/saved_model.pb, which has more than a graph. */
static int inspect_folder_of(const char *path) {
  char folder[PATH_ROOM];
  folder_of(folder, path);
  return inspect_saved_model(folder);
}

static bool is_graph(const char *path) {
  return cli_ends_with(path, ".pb") || cli_ends_with(path, ".pbtxt") || cli_ends_with(path, ".meta");
}

static int inspect_one(const char *path, const request *r) {
  char prefix[PATH_ROOM];
  if (strlen(path) > PATH_ROOM / 2) return cli_failed(path, "the path is too long");
  if (r->values)
    return find_checkpoint(prefix, path) ? inspect_checkpoint(prefix, r->values)
                                         : cli_failed(path, "--values is for checkpoints, and there is none");
  if (r->dot && !is_graph(path)) return cli_failed(path, "--dot is for graphs (.pb, .pbtxt, .meta)");
  if (is_folder(path)) return inspect_folder(path, r);
  if (strstr(path, "tfevents") || r->tag || r->plot) return inspect_events(&path, 1, r->tag, r->plot);
  if (find_checkpoint(prefix, path)) return inspect_checkpoint(prefix, NULL);
  FILE *f = fopen(path, "rb");
  if (!f) return cli_failed(path, strerror(errno));
  fclose(f);
  if (is_named(path, "saved_model.pb") && !r->dot) return inspect_folder_of(path);
  if (cli_ends_with(path, ".npz")) return inspect_npz(path);
  if (is_graph(path)) return inspect_graph(path, r->dot);
  return is_idx(path) ? inspect_idx(path) : inspect_records(path);
}

#define NO_CHECKPOINT                                                                                                  \
  "no checkpoint, and only those can be compared; --plot draws the events of several runs over each other"

static int inspect_two(const char *path_a, const char *path_b) {
  char a[PATH_ROOM], b[PATH_ROOM];
  if (strlen(path_a) > PATH_ROOM / 2 || strlen(path_b) > PATH_ROOM / 2)
    return cli_failed(path_a, "the paths are too long");
  if (!find_checkpoint(a, path_a)) return cli_failed(path_a, NO_CHECKPOINT);
  if (!find_checkpoint(b, path_b)) return cli_failed(path_b, NO_CHECKPOINT);
  return inspect_difference(a, b);
}

/* Several paths are runs with events, or two checkpoints. */
static int inspect_several(const char *const *path, int n, const request *r) {
  bool events = r->plot || r->tag;
  for (int i = 0; i < n && !events; i++) events = strstr(path[i], "tfevents") != NULL;
  if (events) return inspect_events(path, n, r->tag, r->plot);
  return n == 2 ? inspect_two(path[0], path[1]) : cli_unexpected(path[2]);
}

static int inspect_check_options(const request *r, int n) {
  const char *const given[] = {r->values ? "--values" : NULL, r->tag ? "--tag" : NULL, r->plot ? "--plot" : NULL,
                               r->dot ? "--dot" : NULL};
  const char *first = NULL;
  for (int i = 0; i < 4; i++) {
    if (!given[i]) continue;
    if (n > 1 && (given[i] == given[0] || given[i] == given[3]))
      return cli_usage("%s: takes one PATH, there are %d", given[i], n);
    if (first && !(r->tag && r->plot && !r->values && !r->dot))
      return cli_usage("%s and %s: --values is for checkpoints, --tag and --plot are for events, --dot is for graphs",
                       first, given[i]);
    first = given[i];
  }
  if (r->json && (r->plot || r->dot)) return cli_usage("%s and --json: only one of them", r->plot ? "--plot" : "--dot");
  const char *ending = r->dot ? strrchr(r->dot, '.') : ".";
  if (!ending || strchr(ending, '/'))
    return cli_invalid("--dot", "file", r->dot, "its name ends in .dot, .svg, .png or .pdf");
  return n == 0 ? cli_missing("PATH") : DONE;
}

static int inspect_all(const char *const *path, int n, const request *r) {
  return n > 1 ? inspect_several(path, n, r) : inspect_one(path[0], r);
}

/* {"files": [...]}, also where something cannot be read: standard error says what. */
static int inspect_all_as_json(const char *const *path, int n, const request *r) {
  cli_json j = {0};
  inspect_json = &j;
  cli_json_open(&j, NULL, '{');
  cli_json_open(&j, "files", '[');
  const int code = inspect_all(path, n, r);
  cli_json_close(&j, ']');
  cli_json_close(&j, '}');
  cli_json_end(&j);
  inspect_json = NULL;
  return code;
}

static int inspect_run(int argc, char **argv) {
  const char *path[MOST_PATHS], *given;
  request r = {0};
  int n = 0;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if ((given = cli_option(argc, argv, &i, "--values")))
      r.values = given;
    else if ((given = cli_option(argc, argv, &i, "--tag")))
      r.tag = given;
    else if ((given = cli_option(argc, argv, &i, "--dot")))
      r.dot = given;
    else if (strcmp(arg, "--plot") == 0)
      r.plot = true;
    else if (strcmp(arg, "--json") == 0)
      r.json = true;
    else if (arg[0] == '-')
      return cli_bad_option(arg);
    else if (n == MOST_PATHS)
      return cli_unexpected(arg);
    else
      path[n++] = arg;
  }
  const int code = inspect_check_options(&r, n);
  if (code != DONE) return code;
  return (r.json ? inspect_all_as_json : inspect_all)(path, n, &r);
}

static const cli_flag flags[] = {
    {"--values", "NAME", "of a checkpoint: one tensor's statistics and first elements"},
    {"--tag", "TAG", "of events: only this tag"},
    {"--plot", NULL, "of events: curves instead of a table"},
    {"--dot", "FILE", "of a graph: write FILE.dot, or by Graphviz FILE.svg, .png, .pdf"},
    {"--json", NULL, "print one JSON object"},
    {0},
};

const cli_command cli_inspect = {
    .name = "inspect",
    .arguments =
        "PATH [--values NAME] [--tag TAG] [--plot] [--dot FILE] [--json]\nCHECKPOINT CHECKPOINT [--json]\nEVENTS... "
        "[--tag TAG] [--plot] [--json]",
    .summary = "Say what a checkpoint, graph, events or data file holds.",
    .about = "What PATH holds:\n"
             "  a checkpoint (its prefix, or a folder with a file `checkpoint`): names, types, shapes and bytes\n"
             "  two checkpoints: what differs; the exit code is 1 if anything does\n"
             "  a graph (.pb, or as text .pbtxt) or meta graph (.meta): its ops by device, counted\n"
             "  events (files, or folders of such, each a run): scalars by step; --plot draws runs over each other\n"
             "  a SavedModel (its folder): graphs by their tags, and what each signature takes and gives\n"
             "  arrays of numpy (.npz): names, types, shapes and bytes\n"
             "  TFRecords: how many there are, every checksum verified, the features of the first Examples\n"
             "  an idx file of MNIST, plain or gzipped: its type and dimensions",
    .flags = flags,
    .run = inspect_run,
};
