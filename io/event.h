/* event.h - files of Events that TensorBoard reads: DIR/events.out.tfevents.SECONDS.HOST. */
#ifndef WEFT_IO_EVENT_H
#define WEFT_IO_EVENT_H

#include "io/record.h"

/* Creates the folder and a file of which this is the only writer, with the version as its first event. suffix may be
 * NULL. */
typedef struct event_file event_file;
weft_err weft__event_file_create(event_file **out, const char *dir, const char *suffix);
/* Writes one serialized Event.  After a failure, all later calls return it. */
weft_err weft__event_write(event_file *f, const void *event, size_t size);
weft_err weft__event_flush(event_file *f);
const char *weft__event_file_path(const event_file *f);
weft_err weft__event_file_destroy(event_file *f); /* flushes and closes; NULL is allowed */

#endif
