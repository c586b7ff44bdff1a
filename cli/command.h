/* command.h - what the files of the `weft` program share.
 *
 * A command is one file with one cli_command, which says what --help, the man page and the completion say; the build
 * makes the table from the files. */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

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

/* Says on stderr what is wrong with which argument, and where help is; gives USAGE. */
int cli_usage(const char *what, const char *value);
/* The same for an option that the command does not have, or that lacks its value: names the one that was meant. */
int cli_bad_option(const char *option);
/* "weft serve: --task: invalid index 'x'"; gives USAGE. */
int cli_invalid(const char *option, const char *what, const char *value);
/* Says on stderr why the work on what failed; gives FAILED. */
int cli_failed(const char *what, const char *why);
/* How many letters of a word to change, add or leave out to make it another; 99: too many. */
int cli_distance(const char *a, const char *b);

void cli_print_help(const cli_command *c); /* help.c */

/* All of a file, or NULL with errno set.  The caller frees it. */
char *cli_read_file(const char *path, size_t *size);
/* "--name=value" or "--name value": the value, and i moves on to where it stands. */
const char *cli_option(int argc, char **argv, int *i, const char *name);
bool cli_is_style(const char *s); /* of a program's flags: tf, task_id, parameter_servers, none */
bool cli_number(const char *text, long least, long most, int *out); /* all of the text, within these bounds */
bool cli_ends_with(const char *s, const char *end);
/* Is stream 1 or 2 a terminal that wants colour (NO_COLOR is not set)? */
bool cli_colour(int stream);
/* Raises the soft limit of open descriptors as far as the hard one allows: a task has one for each connection. */
void cli_raise_descriptors(void);
/* Calls fn with each of n rows of `size` bytes, all at once, and waits. */
void cli_at_once(void *rows, int n, size_t size, void *(*fn)(void *row));

/* ---- private.c: the token of `weft launch --private` ---- */

/* Makes a token in a file that is found by the port of a task.  False: errno says why. */
bool cli_private_make(char *path, size_t room, int port);
bool cli_private_link(const char *path, int port); /* the same for the port of another task */
void cli_private_remove(const char *path, int port);
/* Where this process has no token and there is such a file for a task of the cluster: sets WEFT_TOKEN_FILE. */
void cli_private_find(const weft_cluster *c);
/* Has the environment a token, or the three files of TLS? */
bool cli_has_credentials(void);

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
        "or --ps_hosts=..., --worker_hosts=...; without them TF_CONFIG, Slurm and MPI are asked"                       \
  }

#endif
