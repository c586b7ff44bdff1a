/* help.c - `weft help`: what the commands say of themselves, for a terminal and as man pages. */
#include "command.h"
#include "completion.h"
#include "topics.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a terminal ---- */

static void print_usage(const cli_command *c) {
  const char *word = "usage:", *at = c->arguments;
  do {
    const size_t n = strcspn(at, "\n");
    printf("%s weft %s%s%.*s\n", word, c->name, n ? " " : "", (int)n, at);
    at += n + (at[n] == '\n');
    word = "      ";
  } while (*at);
}

static int flag_width(const cli_command *c) {
  int width = 0;
  for (const cli_flag *f = c->flags; f && f->name; f++) {
    const int n = (int)(strlen(f->name) + (f->value ? 1 + strlen(f->value) : 0));
    if (n > width && n <= 28) width = n;
  }
  return width;
}

static void print_flag(const cli_flag *f, int width) {
  char head[96];
  snprintf(head, sizeof head, "%s%s%s", f->name, f->value ? " " : "", f->value ? f->value : "");
  for (const char *at = f->text; *at;) {
    const size_t n = strcspn(at, "\n");
    if (at == f->text && (int)strlen(head) > width) printf("  %s\n", head), head[0] = 0;
    printf("  %-*s  %.*s\n", width, head, (int)n, at);
    head[0] = 0;
    at += n + (at[n] == '\n');
  }
}

static void print_overview(void) {
  printf("usage: weft COMMAND [ARGUMENT...]\n\n");
  for (const cli_command *const *c = cli_commands; *c; c++) printf("  %-10s %s\n", (*c)->name, (*c)->summary);
  printf("\nTopics:\n\n");
  for (const cli_topic *t = cli_topics; t->name; t++) printf("  %-12s %s\n", t->name, t->summary);
  printf("\n'weft COMMAND --help' and 'weft help TOPIC' say more.  Exit codes: 0 done, 1 the work failed, 2 the "
         "command line makes no "
         "sense.\n");
}

void cli_print_help(const cli_command *c) {
  if (!c) {
    print_overview();
    return;
  }
  print_usage(c);
  printf("\n%s\n", c->about);
  if (c->flags) printf("\n");
  for (const cli_flag *f = c->flags; f && f->name; f++) print_flag(f, flag_width(c));
  if (c->more) printf("\n%s\n", c->more);
}

/* ---- man pages ---- */

/* Text as roff takes it: no backslash, hyphen or leading dot is read as a command. */
static void put_roff(FILE *f, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) fputs("\\&", f);
    if (text[i] == '\\')
      fputs("\\e", f);
    else if (text[i] == '-')
      fputs("\\-", f);
    else
      fputc(text[i], f);
  }
}

/* Paragraphs; lines that begin with spaces keep their shape. */
static void put_text(FILE *f, const char *text) {
  bool shaped = false;
  for (const char *at = text; *at;) {
    const size_t n = strcspn(at, "\n");
    const bool indented = at[0] == ' ';
    if (n == 0 && !shaped) fputs(".PP\n", f);
    if (indented != shaped && n) fputs(indented ? ".nf\n" : ".fi\n", f), shaped = indented;
    put_roff(f, at, n);
    if (n) fputc('\n', f);
    at += n + (at[n] == '\n');
  }
  if (shaped) fputs(".fi\n", f);
}

static void put_flags(FILE *f, const cli_command *c) {
  if (c->flags) fputs(".SH OPTIONS\n", f);
  for (const cli_flag *x = c->flags; x && x->name; x++) {
    fputs(".TP\n\\fB", f);
    put_roff(f, x->name, strlen(x->name));
    fputs("\\fR", f);
    if (x->value) fprintf(f, " \\fI%s\\fR", x->value);
    fputc('\n', f);
    put_text(f, x->text);
  }
}

static void put_synopsis(FILE *f, const cli_command *c) {
  fputs(".SH SYNOPSIS\n", f);
  for (const char *at = c->arguments;;) {
    const size_t n = strcspn(at, "\n");
    fprintf(f, "\\fBweft %s\\fR ", c->name);
    put_roff(f, at, n);
    fputs("\n", f);
    if (!at[n]) break;
    fputs(".br\n", f);
    at += n + 1;
  }
}

static void put_command(FILE *f, const cli_command *c) {
  fprintf(f, ".TH WEFT-%s 1 \"\" \"Weft %s\"\n.SH NAME\nweft-%s \\- ", c->name, weft_version(), c->name);
  put_roff(f, c->summary, strlen(c->summary));
  fputc('\n', f);
  put_synopsis(f, c);
  fputs(".SH DESCRIPTION\n", f);
  put_text(f, c->about);
  fputc('\n', f);
  put_flags(f, c);
  if (c->more) fputs(".SH NOTES\n", f), put_text(f, c->more);
  fputs(".SH EXIT STATUS\n0: done.  1: the work failed.  2: the command line makes no sense.\n"
        ".SH SEE ALSO\n\\fBweft\\fR(1)\n",
        f);
}

static void put_program(FILE *f) {
  fprintf(
      f,
      ".TH WEFT 1 \"\" \"Weft %s\"\n.SH NAME\nweft \\- run, watch and look into clusters that speak TensorFlow 1.x\n"
      ".SH SYNOPSIS\n\\fBweft\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH COMMANDS\n",
      weft_version());
  for (const cli_command *const *c = cli_commands; *c; c++) {
    fprintf(f, ".TP\n\\fBweft\\-%s\\fR(1)\n", (*c)->name);
    put_roff(f, (*c)->summary, strlen((*c)->summary));
    fputc('\n', f);
  }
  fputs(".SH EXIT STATUS\n0: done.  1: the work failed.  2: the command line makes no sense.\n", f);
}

/* DIR/weft.1 and DIR/weft-COMMAND.1. */
static int write_man_pages(const char *dir) {
  char path[4096];
  if (mkdir(dir, 0777) != 0 && errno != EEXIST) return cli_failed(dir, strerror(errno));
  for (int i = -1; i < 0 || cli_commands[i]; i++) {
    snprintf(path, sizeof path, "%s/weft%s%s.1", dir, i < 0 ? "" : "-", i < 0 ? "" : cli_commands[i]->name);
    FILE *f = fopen(path, "w");
    if (!f) return cli_failed(path, strerror(errno));
    if (i < 0)
      put_program(f);
    else
      put_command(f, cli_commands[i]);
    if (fclose(f) != 0) return cli_failed(path, strerror(errno));
  }
  return DONE;
}

/* ---- the command ---- */

static int print_topic(const char *name) {
  const char *known[64];
  int n = 0;
  for (const cli_command *const *c = cli_commands; *c && n < 32; known[n++] = (*c)->name, c++)
    if (strcmp((*c)->name, name) == 0) return cli_print_help(*c), DONE;
  for (const cli_topic *t = cli_topics; t->name && n < 64; known[n++] = t->name, t++)
    if (strcmp(t->name, name) == 0) return fputs(t->text, stdout), DONE;
  return cli_unknown("command or topic", name, known, n);
}

static int help_run(int argc, char **argv) {
  const char *given;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--completion") == 0 && i + 1 >= argc) return cli_print_completion("bash");
    if ((given = cli_option(argc, argv, &i, "--completion"))) return cli_print_completion(given);
    if ((given = cli_option(argc, argv, &i, "--man-pages"))) return write_man_pages(given);
    if (argv[i][0] == '-') return cli_bad_option(argv[i]);
    return i + 1 < argc ? cli_unexpected(argv[i + 1]) : print_topic(argv[i]);
  }
  cli_print_help(NULL);
  return DONE;
}

static const cli_flag flags[] = {{"--man-pages", "DIR", "write weft.1 and a page for each command into DIR"},
                                 {"--completion", "bash|zsh|fish", "print the shell's completion of weft"},
                                 {0}};

const cli_command cli_help = {
    .name = "help",
    .arguments = "[COMMAND|TOPIC]\n--man-pages DIR\n--completion SHELL",
    .summary = "Explain a command or a topic: clusters, security, environment.",
    .about = "What the commands say of themselves: here, as man pages, or as a shell's completion.",
    .flags = flags,
    .run = help_run,
};
