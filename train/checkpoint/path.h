/* path.h - paths as text.  What comes back is the caller's to weft__free; NULL: no memory. */
#ifndef WEFT_TRAIN_CHECKPOINT_PATH_H
#define WEFT_TRAIN_CHECKPOINT_PATH_H

#include <stdbool.h>

/* An absolute path without ".", ".." and doubled slashes.  Links are not followed.  One with a scheme ("file:///x")
 * stays as it is. */
char *weft__path_absolute(const char *path);
/* The way from the folder `start` to `path`: "../m". */
char *weft__path_relative(const char *path, const char *start);
/* dir/path; path itself when it is absolute or dir is "". */
char *weft__path_below(const char *dir, const char *path);
/* Returns true if both name the same file, as "./m" and "m" do. */
bool weft__path_same(const char *a, const char *b);

#endif
