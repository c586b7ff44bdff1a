/* command.h - what the files of the `weft` program share. */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

/* Exit codes: the work is done, it failed, the command line makes no sense. */
enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* Says on stderr what is wrong with which argument; gives USAGE. */
int cli_usage(const char *what, const char *value);

int cli_launch(int argc, char **argv);
int cli_ops(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_trace(int argc, char **argv);

#endif
