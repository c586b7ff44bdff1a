/* completion.c - the completion of `weft` in bash, zsh and fish, written from what --help says. */
#include "completion.h"
#include "command.h"
#include "topics.h"
#include <stdio.h>
#include <string.h>

/* ---- bash ---- */

/* The words a flag's value may be, or what kind of path it is. */
static void completion_put_values(const cli_command *c) {
  for (const cli_flag *f = c->flags; f && f->name; f++) {
    if (!f->value) continue;
    printf("    %s,%s) ", c->name, f->name);
    if (strchr(f->value, '|')) {
      printf("words='");
      for (const char *p = f->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
      printf("' ;;\n");
    } else if (strcmp(f->value, "DIR") == 0)
      printf("kind=-d ;;\n");
    else
      printf("%s;;\n", strcmp(f->value, "FILE") == 0 || strcmp(f->value, "CLUSTER") == 0 ? "kind=-f " : "");
  }
}

static int print_bash(void) {
  printf("# bash completion of weft: written by `weft help --completion bash`, from what --help says.\n"
         "_weft() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= kind=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    words='--help --version");
  for (const cli_command *const *c = cli_commands; *c; c++) printf(" %s", (*c)->name);
  printf("'\n  else case ${COMP_WORDS[1]},$before in\n");
  for (const cli_command *const *c = cli_commands; *c; c++) completion_put_values(*c);
  printf("    *) case ${COMP_WORDS[1]} in\n");
  for (const cli_command *const *c = cli_commands; *c; c++) {
    printf("      %s) words='--help", (*c)->name);
    for (const cli_flag *f = (*c)->flags; f && f->name; f++) printf(" %s", f->name);
    printf("' ;;\n");
  }
  printf("      esac\n"
         "      [ \"${word:0:1}\" = - ] || { words= kind=-f; } ;;\n"
         "  esac; fi\n"
         "  if [ -n \"$kind\" ]; then compopt -o filenames; mapfile -t COMPREPLY < <(compgen \"$kind\" -- \"$word\")\n"
         "  else mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"); fi\n"
         "}\n"
         "complete -F _weft weft\n");
  return DONE;
}

/* ---- zsh and fish ---- */

/* Text inside single quotes, up to the end of its first line; in zsh's descriptions a colon or bracket needs a
 * backslash. */
static void completion_put_quoted(const char *text, const char *escaped) {
  for (; *text && *text != '\n'; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      printf("%s%c", strchr(escaped, *text) ? "\\" : "", *text);
  }
}

static bool takes_path(const char *value) { return strcmp(value, "FILE") == 0 || strcmp(value, "CLUSTER") == 0; }

/* "--ps[parameter servers (1)]:N:" and the like. */
static void put_zsh_flag(const cli_flag *f) {
  printf(" \\\n        '%s[", f->name);
  completion_put_quoted(f->text, ":[]\\");
  printf("]");
  if (f->value) {
    printf(":%s:", strchr(f->value, '|') ? "value" : f->value);
    if (strchr(f->value, '|')) {
      putchar('(');
      for (const char *p = f->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
      putchar(')');
    } else if (strcmp(f->value, "DIR") == 0 || takes_path(f->value))
      printf("_files%s", takes_path(f->value) ? "" : " -/");
  }
  putchar('\'');
}

static int print_zsh(void) {
  printf("#compdef weft\n# zsh completion of weft: written by `weft help --completion zsh`, from what --help says.\n"
         "_weft() {\n  local -a commands=(\n");
  for (const cli_command *const *c = cli_commands; *c; c++) {
    printf("    '%s:", (*c)->name);
    completion_put_quoted((*c)->summary, "\\");
    printf("'\n");
  }
  printf("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (const cli_command *const *c = cli_commands; *c; c++) {
    printf("    %s)\n      _arguments '--help[explain the command]'", (*c)->name);
    for (const cli_flag *f = (*c)->flags; f && f->name; f++) put_zsh_flag(f);
    if (strcmp((*c)->name, "help") == 0) {
      printf(" \\\n        '1:topic:(");
      for (const cli_command *const *k = cli_commands; *k; k++) printf("%s ", (*k)->name);
      for (const cli_topic *t = cli_topics; t->name; t++) printf("%s%s", t->name, t[1].name ? " " : "");
      printf(")'\n      ;;\n");
    } else
      printf(" \\\n        '*:file:_files'\n      ;;\n");
  }
  printf("  esac\n}\n_weft \"$@\"\n");
  return DONE;
}

static void put_fish_flag(const cli_command *c, const cli_flag *f) {
  printf("complete -c weft -n '__fish_seen_subcommand_from %s' -l %s -d '", c->name, f->name + 2);
  completion_put_quoted(f->text, "\\");
  printf("'");
  if (f->value && strchr(f->value, '|')) {
    printf(" -x -a '");
    for (const char *p = f->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
    printf("'");
  } else if (f->value)
    printf(" %s", strcmp(f->value, "DIR") == 0 || takes_path(f->value) ? "-r -F" : "-x");
  printf("\n");
}

static int print_fish(void) {
  printf("# fish completion of weft: written by `weft help --completion fish`, from what --help says.\n");
  for (const cli_command *const *c = cli_commands; *c; c++) {
    printf("complete -c weft -f -n __fish_use_subcommand -a %s -d '", (*c)->name);
    completion_put_quoted((*c)->summary, "\\");
    printf("'\n");
    for (const cli_flag *f = (*c)->flags; f && f->name; f++) put_fish_flag(*c, f);
  }
  for (const cli_topic *t = cli_topics; t->name; t++) {
    printf("complete -c weft -f -n '__fish_seen_subcommand_from help' -a %s -d '", t->name);
    completion_put_quoted(t->summary, "\\");
    printf("'\n");
  }
  return DONE;
}

int cli_print_completion(const char *shell) {
  static const char *const known[] = {"bash", "zsh", "fish"};
  int (*const print[])(void) = {print_bash, print_zsh, print_fish};
  for (int i = 0; i < 3; i++)
    if (strcmp(shell, known[i]) == 0) return print[i]();
  return cli_unknown("shell", shell, known, 3);
}
