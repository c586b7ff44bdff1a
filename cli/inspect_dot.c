/* inspect_dot.c - a graph as Graphviz draws it: a box around the nodes of each device, control edges dashed.
 *
 * OUT.dot is the text itself; any other ending is a format that `dot` is asked for. */
#include "inspect.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void inspect_dot_put_quoted(FILE *f, const char *s) {
  fputc('"', f);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fputc('\\', f);
    fputc(*s, f);
  }
  fputc('"', f);
}

/* Returns the number of the first node on the same device. */
static int first_on_device(const weft_graph *g, int i) {
  const char *device = weft_node_device(weft_graph_node(g, i));
  int k = 0;
  while (strcmp(weft_node_device(weft_graph_node(g, k)), device) != 0) k++;
  return k;
}

static void put_node(FILE *f, const weft_graph *g, int i) {
  const weft_node *n = weft_graph_node(g, i);
  const bool state = strstr(weft_node_op(n), "Variable") || strstr(weft_node_op(n), "VarHandle");
  fprintf(f, "    n%d [label=", i);
  inspect_dot_put_quoted(f, weft_node_name(n));
  fputs(", xlabel=", f);
  inspect_dot_put_quoted(f, weft_node_op(n));
  fprintf(f, "%s];\n", state ? ", style=\"filled,rounded\", fillcolor=\"#cde2fb\"" : "");
}

static void put_edges(FILE *f, const weft_graph *g, int i) {
  const weft_node *n = weft_graph_node(g, i);
  for (int k = 0; k < weft_node_input_count(n); k++) fprintf(f, "  n%d -> n%d;\n", weft_node_input(n, k).node, i);
  for (int k = 0; k < weft_node_control_count(n); k++)
    fprintf(f, "  n%d -> n%d [style=dashed, color=\"#898781\"];\n", weft_node_control(n, k).node, i);
}

static void put_graph(FILE *f, const weft_graph *g) {
  const int n = weft_graph_size(g);
  fputs("digraph weft {\n  rankdir=BT; forcelabels=true;\n"
        "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=10, color=\"#52514e\"];\n"
        "  edge [arrowsize=0.6, color=\"#52514e\"];\n",
        f);
  for (int i = 0; i < n; i++) {
    const char *device = weft_node_device(weft_graph_node(g, i));
    if (first_on_device(g, i) != i) continue;
    fprintf(f, "  subgraph cluster_%d {\n    color=\"#c3c2b7\"; fontname=\"sans-serif\"; label=", i);
    inspect_dot_put_quoted(f, *device ? device : "no device");
    fputs(";\n", f);
    for (int k = i; k < n; k++)
      if (strcmp(weft_node_device(weft_graph_node(g, k)), device) == 0) put_node(f, g, k);
    fputs("  }\n", f);
  }
  for (int i = 0; i < n; i++) put_edges(f, g, i);
  fputs("}\n", f);
}

static int write_text(const char *path, const weft_graph *g) {
  FILE *f = fopen(path, "w");
  if (!f) return cli_failed(path, strerror(errno));
  put_graph(f, g);
  return fclose(f) == 0 ? DONE : cli_failed(path, strerror(errno));
}

/* Asks dot for a picture of the text in a file. */
static int dot_render(const char *text, const char *format, const char *out) {
  char type[32];
  int status = 0;
  snprintf(type, sizeof type, "-T%s", format);
  const pid_t pid = fork();
  if (pid == 0) {
    execlp("dot", "dot", type, "-o", out, text, (char *)NULL);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return cli_failed(out, strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return DONE;
  return WIFEXITED(status) && WEXITSTATUS(status) == 127
             ? cli_failed(out, "there is no dot (Graphviz); --dot OUT.dot writes what it reads")
             : cli_failed(out, "dot failed; --dot OUT.dot writes what it reads");
}

int inspect_dot(const weft_graph *g, const char *out) {
  const char *ending = strrchr(out, '.'); /* not NULL: inspect.c has checked that the name ends in .dot, .svg, ... */
  int code;
  if (strcmp(ending, ".dot") == 0) {
    code = write_text(out, g);
  } else {
    char text[] = "/tmp/weft-dot.XXXXXX";
    const int fd = mkstemp(text);
    if (fd < 0) return cli_failed(text, strerror(errno));
    close(fd);
    code = write_text(text, g);
    if (code == DONE) code = dot_render(text, ending + 1, out);
    unlink(text);
  }
  if (code == DONE) printf("%s: a picture of %d nodes\n", out, weft_graph_size(g));
  return code;
}
