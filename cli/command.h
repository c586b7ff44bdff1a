/* command.h - what the files of the `weft` program share.
 *
 * A command is one file with one cli_command, which says what --help, the man page and the completion say; the build
 * makes the table from the files. */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

#include <sys/types.h>
#include <weft/weft.h>

/* Exit codes: the work is done, it failed, the command line makes no sense. */
enum { DONE = 0, FAILED = 1, USAGE = 2 };

typedef struct cli_flag {
  const char *name; /* "--ps" */
  const char *
      value; /* "N"; NULL: it takes none.  "FILE", "CLUSTER" and "DIR" are completed as paths, "a|b|c" as these words */
  const char *text; /* lines parted by '\n' */
} cli_flag;

typedef struct cli_command {
  const char *name;
  const char *arguments;             /* "PATH [PATH]"; other forms parted by '\n' */
  const char *summary;               /* one line */
  const char *about;                 /* paragraphs */
  const cli_flag *flags;             /* ended by a {0}; NULL: none */
  const char *more;                  /* after the flags; or NULL */
  bool passes_on;                    /* what follows the first argument that is no option is another program's */
  int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} cli_command;

extern const cli_command *const cli_commands[]; /* every file's, ended by NULL: made by the build */
extern const cli_command *cli_current;          /* the one that runs */

/* ---- what is wrong: one line on stderr, "weft COMMAND: ...", and the exit code ---- */

/* "weft trace: missing FILE; see 'weft trace --help'"; returns USAGE. */
int cli_missing(const char *argument);
/* "weft version: unexpected argument 'x'; see 'weft version --help'"; returns USAGE. */
int cli_unexpected(const char *argument);
/* "weft serve: --task: invalid index 'x'"; `option` may be NULL, `hint` (a sentence about what is valid) too.  Returns
 * USAGE. */
int cli_invalid(const char *option, const char *what, const char *value, const char *hint);
/* "weft help: unknown topic 'x'; did you mean 'y'?", with the closest of n known words if one is close, else the list
 * of all of them.  Returns USAGE. */
int cli_unknown(const char *what, const char *value, const char *const *known, int n);
/* Returns the known word that differs from the given one in few letters; NULL if there is none. */
const char *cli_closest(const char *word, const char *const *known, int n);
/* An option that the command does not have, or that lacks its value, or that takes none; or an argument where there is
 * none.  Returns USAGE. */
int cli_bad_option(const char *option);
/* Anything else that makes no sense, as printf says it; see 'weft COMMAND --help'.  Returns USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "weft inspect: model.pb: No such file or directory"; returns FAILED. */
int cli_failed(const char *what, const char *why);

void cli_print_help(const cli_command *c); /* help.c */

/* Returns the contents of a file, which the caller frees; NULL with errno set. */
char *cli_read_file(const char *path, size_t *size);
/* "--name=value" or "--name value": the value, and i moves on to where it stands. */
const char *cli_option(int argc, char **argv, int *i, const char *name);
/* DONE for a style of a program's flags (tf, task_id, parameter_servers, none); else USAGE, after a line about it. */
int cli_check_style(const char *style);
bool cli_number(const char *text, long least, long most, int *out); /* all of the text, within these bounds */
bool cli_ends_with(const char *s, const char *end);
/* Returns true if stream 1 or 2 is a terminal that shows color, and NO_COLOR is not set. */
bool cli_color(int stream);
/* Raises the soft limit of open descriptors as far as the hard one allows: a task has one for each connection. */
void cli_raise_descriptors(void);
/* Calls fn with each of n rows of `size` bytes, all at once, and waits. */
void cli_at_once(void *rows, int n, size_t size, void *(*fn)(void *row));

/* run.c: DONE, or FAILED after a line about a Python package beside this program that was not built. */
int cli_check_python(void);

/* ---- private.c: the folder of this user's files, and the token of `weft launch --private` ---- */

/* Makes the folder, of mode 0700, for files that only this user reads.  False: errno says why. */
bool cli_user_folder_make(char *to, size_t room);
/* The i-th such folder that is there, for i of 0 and 1. */
bool cli_user_folder_find(char *to, size_t room, int i);
bool cli_is_own(const char *path, mode_t type); /* is it of this user alone, and of that type? */

/* Makes a token in a file that is found by the port of a task.  False: errno says why. */
bool cli_private_make(char *path, size_t room, int port);
bool cli_private_link(const char *path, int port); /* the same for the port of another task */
void cli_private_remove(const char *path, int port);
/* Where this process has no token and there is such a file for a task of the cluster: sets WEFT_TOKEN_FILE. */
void cli_private_find(const weft_cluster *c);
/* Returns true if the environment has a token, or the three files of TLS. */
bool cli_has_credentials(void);

/* ---- local.c: the clusters of `weft launch` that run on this machine ---- */

/* Records the cluster of this process, "ps=host:port;worker=host:port", until cli_local_forget. */
void cli_local_record(const char *cluster, const char *program);
void cli_local_forget(void);
/* The newest of this user's that runs, for the caller to free; NULL: there is none.  Says on stderr which one it is if
 * there are several. */
char *cli_local_find(void);

/* ---- cluster.c: the cluster that a command line means ---- */

typedef struct cli_cluster {
  const char *given;   /* --cluster's */
  weft_cluster *hosts; /* of --ps_hosts and the like, or NULL */
} cli_cluster;
/* Takes --cluster, or a flag that a task of the cluster is started with, so that its command line can be pasted.
 * False: argument i is neither.  *code: USAGE or FAILED if it makes no sense. */
bool cli_cluster_flag(cli_cluster *k, int argc, char **argv, int *i, int *code);
/* The cluster of the flags, else the environment's (TF_CONFIG, Slurm, MPI); gives DONE, or says why there is none. */
int cli_cluster_find(weft_cluster **out, cli_cluster *k);
/* The text of a cluster: what was given, or what is in the file of that name. */
weft_err cli_read_cluster(weft_cluster **out, const char *given);
#define CLI_CLUSTER_FLAGS                                                                                              \
  {                                                                                                                    \
    "--cluster", "CLUSTER",                                                                                            \
        "'ps=host:port,host:port;worker=host:port', or JSON, or a file of either;\n"                                   \
        "or --ps_hosts=..., --worker_hosts=...; without them TF_CONFIG, Slurm and MPI are asked,\n"                    \
        "then the newest cluster of 'weft launch' on this machine"                                                     \
  }

#endif
