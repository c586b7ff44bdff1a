/* confine.h - the directories that file ops of graphs may access.
 *
 * A server that runs graphs of others must not expose the disk.  Once a server requires a token or TLS, only the
 * allowed directories (--allow-dir, WEFT_ALLOW_DIRS) are accessible.  The rule applies to the process, and ops check
 * every path of a graph against it.  Files that the program itself writes are not checked. */
#ifndef WEFT_IO_CONFINE_H
#define WEFT_IO_CONFINE_H

#include "base/status.h"

/* Sets the allowed directories, separated by ':' ("" allows none); NULL allows everything.  Until this is called,
 * WEFT_ALLOW_DIRS decides, also for graphs that run without a server. */
weft_err weft__confine(const char *directories);
/* Returns PERMISSION_DENIED if the path, or the prefix of file names, is in no allowed directory.  Links are
 * followed.  Returns UNIMPLEMENTED for a path of an unsupported file system ("hdfs://..."). */
weft_err weft__path_allowed(const char *path);

#endif
