/* inspect.h - what `weft inspect` can look at: one function per kind of file.  Each gives an exit code. */
#ifndef WEFT_CLI_INSPECT_H
#define WEFT_CLI_INSPECT_H

#include "command.h"
#include "json.h"

/* Where --json writes, inside the array "files"; NULL: text for people.  Each function below writes one object there,
 * or none if the file cannot be read at all. */
extern cli_json *inspect_json;
void inspect_json_open(const char *path, const char *kind); /* "path" and "kind", in every object */
/* "type", "shape" and "bytes" of a tensor; bytes < 0: null, as of strings. */
void inspect_json_tensor(const char *type, int rank, const int64_t *dims, int64_t bytes);

/* inspect_checkpoint.c; name: of the one tensor to show, or NULL. */
int inspect_checkpoint(const char *prefix, const char *name);
/* Says what differs: DONE if nothing does, FAILED otherwise. */
int inspect_difference(const char *prefix_a, const char *prefix_b);
/* "[784,500]", in a buffer of the caller's. */
const char *inspect_shape(char *to, size_t room, int rank, const int64_t *dims);
enum { SHAPE_TEXT = 128 };

/* inspect_file.c */
/* .pb, .pbtxt or .meta; dot: a picture to write, or NULL. */
int inspect_graph(const char *path, const char *dot);
/* Files or folders, each a run; tag: the only one to show, or NULL; plot: curves instead of a table. */
int inspect_events(const char *const *path, int n, const char *tag, bool plot);
int inspect_saved_model(const char *dir); /* a folder with saved_model.pb */
int inspect_npz(const char *path);
int inspect_idx(const char *path);

/* inspect_records.c */
int inspect_records(const char *path);

/* inspect_plot.c: values by tag and step. */
typedef struct inspect_curves inspect_curves;
inspect_curves *inspect_curves_create(void); /* NULL: no memory */
/* run: the index of a path; false: no memory. */
bool inspect_curves_add(inspect_curves *c, int run, const char *tag, int64_t step, double value);
void inspect_curves_print(const inspect_curves *c, const char *const *runs, int n_run);
void inspect_curves_destroy(inspect_curves *c);

/* inspect_dot.c */
int inspect_dot(const weft_graph *g, const char *out);

#endif
