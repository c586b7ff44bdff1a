/* confine.h - the directories that file ops of graphs may touch.
 *
 * A port that runs graphs for others must not hand out the disk: once a server asks for a token or TLS, only
 * the directories allowed (--allow-dir, WEFT_ALLOW_DIRS) remain.  The rule is the process's; ops ask it for
 * every path that a graph gives them.  Files that the program itself writes are not asked about. */
#ifndef WEFT_IO_CONFINE_H
#define WEFT_IO_CONFINE_H

#include "base/status.h"

/* Directories parted by ':' ("" allows none); NULL: everything is allowed.  Until it is called, WEFT_ALLOW_DIRS says
 * what is, for graphs that run without a server too. */
weft_err weft__confine(const char *directories);
/* PERMISSION_DENIED if the path, or the prefix of names it is, lies in no allowed directory.  Links are followed.
 * UNIMPLEMENTED for a path of a file system that there is not ("hdfs://..."). */
weft_err weft__path_allowed(const char *path);

#endif
