/* path.h - functions on path names.  The caller frees results with weft__free; NULL means that memory is short. */
#ifndef WEFT_TRAIN_CHECKPOINT_PATH_H
#define WEFT_TRAIN_CHECKPOINT_PATH_H

#include <stdbool.h>

/* Returns an absolute path without ".", ".." and doubled slashes.  Links are not followed.  A path with a scheme
 * ("file:///x") stays unchanged. */
char *weft__path_absolute(const char *path);
/* Returns `path` relative to the folder `start`: "../m". */
char *weft__path_relative(const char *path, const char *start);
/* Returns dir/path, or path itself if it is absolute or dir is "". */
char *weft__path_below(const char *dir, const char *path);
/* Returns true if both name the same file, such as "./m" and "m". */
bool weft__path_same(const char *a, const char *b);

#endif
