/* print.c - Print and PrintV2: write text to stderr, stdout, the log or a file while a graph runs.
 *
 * The text is output of the program.  It is written without a time or a source location and does not go through the
 * log callback, unless the stream is "log(...)".  Each text is one call of stdio, so the texts of two threads do not
 * mix. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "io/confine.h"
#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_text(FILE *to, const text *t) {
  if (t->size) fwrite(t->data, 1, t->size, to);
  fflush(to);
}

/* ---- Print ---- */

/* The state in a plan: how often the node has printed. */
static weft_err print_prepare(const weft_node *node, void **state) {
  (void)node;
  *state = weft__alloc_zero(1, sizeof(atomic_llong));
  return *state ? WEFT_OK : WEFT_OOM;
}

static weft_err print_cpu(kernel *k) {
  int64_t first_n = weft__node_int(k->node, "first_n", -1);
  if (first_n < 0 || atomic_fetch_add((atomic_llong *)k->state, 1) < first_n) {
    text said = {0};
    int limit = weft__int_sat(weft__node_int(k->node, "summarize", 3));
    weft__text_puts(&said, weft__node_str(k->node, "message").data);
    for (int i = 1; i < k->n_in; i++) weft__tensor_print(&said, k->in[i], limit);
    weft__text_puts(&said, "\n");
    if (!said.failed) write_text(stderr, &said);
    const bool failed = said.failed;
    weft__text_finish(&said);
    if (failed) return weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "there is no memory for the text to print");
  }
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

/* ---- PrintV2 ---- */

static weft_err print_v2_infer(infer *s) {
  if (s->in[0].rank > 0) return weft__infer_fail(s, "input must be a scalar, but has rank: %d", s->in[0].rank);
  return WEFT_OK;
}

/* Appends the text to the file, which is created if it does not exist. */
static weft_err append_to_file(const char *path, const text *t) {
  WEFT_TRY(weft__path_allowed(path));
  const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return weft__file_fail(path, errno);
  size_t done = 0;
  int failed = 0;
  while (done < t->size && !failed) {
    const ssize_t n = write(fd, t->data + done, t->size - done);
    if (n >= 0)
      done += (size_t)n;
    else if (errno != EINTR)
      failed = errno;
  }
  close(fd);
  return failed ? weft__file_fail(path, failed) : WEFT_OK;
}

static weft_err print_to(kernel *k, const char *stream, const text *t) {
  static const struct {
    const char *stream;
    log_level level;
  } logs[] = {{"log(info)", LOG_INFO}, {"log(warning)", LOG_WARNING}, {"log(error)", LOG_ERROR}};
  if (strcmp(stream, "stderr") == 0 || strcmp(stream, "stdout") == 0) {
    write_text(stream[3] == 'e' ? stderr : stdout, t);
    return WEFT_OK;
  }
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
    if (strcmp(stream, logs[i].stream) == 0) {
      weft__log(logs[i].level, "%.*s", weft__int_sat((int64_t)t->size), t->size ? t->data : "");
      return WEFT_OK;
    }
  if (strncmp(stream, "file://", 7) == 0) return append_to_file(stream + 7, t); /* here no host comes before the path */
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "Unknown output stream: %s, Valid streams are: stdout stderr log(info) log(warning) log(error)", stream);
}

static weft_err print_v2_cpu(kernel *k) {
  const str *line = k->in[0]->data;
  if (k->in[0]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input is expected to be scalar, but got %s",
                             weft__shape_text(&k->in[0]->shape));
  const attr_str stream = weft__node_str(k->node, "output_stream"), end = weft__node_str(k->node, "end");
  const bool log = stream.size >= 3 && strncmp(stream.data, "log", 3) == 0; /* the log ends lines itself */
  text t = {0};
  if (line->size) weft__text_add(&t, line->data, line->size);
  if (end.size && !log) weft__text_add(&t, end.data, end.size);
  weft_err err = t.failed ? weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "there is no memory for the text to print")
                          : print_to(k, stream.size ? stream.data : "stderr", &t);
  weft__text_finish(&t);
  return err;
}

/* ---- cases ---- */

static const op_case print_cases[] = {
    {"f32[2] 1 2; i32[5] seq; str[1] \"a\"", "f32[2] 1 2", "message='here: '", 0},
    {"f32[2] 1 2; i32[5] seq", "f32[2] 1 2", "first_n=0", 0},
    {"str[1] \"a\"", "str[1] \"a\"", NULL, 0},
    {0},
};

static const op_case print_v2_cases[] = {
    {"str[] \"a line\"", "", NULL, CASE_NO_GRAD},
    {"str[] \"a line\"", "", "output_stream='stdout'", CASE_NO_GRAD},
    {"str[] \"a line\"", "", "output_stream='log(warning)'", CASE_NO_GRAD},
    {"str[] \"a line\"", "", "output_stream='file:///dev/null'", CASE_NO_GRAD},
    {"str[] \"a line\"", "error NOT_FOUND", "output_stream='file:///no/such/folder/file'", CASE_NO_GRAD},
    {"str[] \"a line\"", "error INVALID_ARGUMENT", "output_stream='paper'", CASE_NO_GRAD},
    {"str[1] \"a line\"", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

OPS(print) = {
    {"Print(input:T, data:@U) -> (output:T) | T:type U:list(type)>=0 message:string='' first_n:int=-1 summarize:int=3 "
     "; stateful",
     "The input; prints the data to stderr.", .infer = weft__infer_same, .cpu = print_cpu, .prepare = print_prepare,
     .unprepare = weft__free, .grad = weft__gradient_pass, .cases = print_cases, .narrow = NARROW_ALL},
    {"PrintV2(input:string) -> () | output_stream:string='stderr' end:string='\n' ; stateful",
     "Prints a string to stderr, stdout, the log or a file.", .infer = print_v2_infer, .cpu = print_v2_cpu,
     .cases = print_v2_cases},
    {0},
};
