/* completion.h - what a shell offers after `weft` and the tabulator key. */
#ifndef WEFT_CLI_COMPLETION_H
#define WEFT_CLI_COMPLETION_H

/* Prints the completion for bash, zsh or fish.  Returns an exit code: USAGE for another shell. */
int cli_print_completion(const char *shell);

#endif
