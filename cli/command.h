/* command.h - what the files of the `weft` program share. */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

#include <weft/weft.h>

/* Exit codes: the work is done, it failed, the command line makes no sense. */
enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* Says on stderr what is wrong with which argument; gives USAGE. */
int cli_usage(const char *what, const char *value);

/* Says on stderr why the work on what failed; gives FAILED. */
int cli_failed(const char *what, const char *why);
/* All of a file, or NULL with errno set.  The caller frees it. */
char *cli_read_file(const char *path, size_t *size);
/* "--name=value" or "--name value": the value, and i moves on to where it stands. */
const char *cli_option(int argc, char **argv, int *i, const char *name);
/* The cluster's text: what was given, or what is in the file of that name. */
weft_err cli_read_cluster(weft_cluster **out, const char *given);

int cli_check(int argc, char **argv);
int cli_convert(int argc, char **argv);
int cli_exec(int argc, char **argv);
int cli_inspect(int argc, char **argv);
int cli_launch(int argc, char **argv);
int cli_manifest(int argc, char **argv);
int cli_ops(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_trace(int argc, char **argv);

#endif
