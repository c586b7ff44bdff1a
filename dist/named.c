/* named.c - the inner message is made first, because its length stands before it. */
#include "dist/named.h"

#include <string.h>

/* The pieces of `from` go to the end of `to`. */
static weft_err append(message *to, message *from) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < from->n_piece; i++) {
    piece p = *weft__message_piece(from, i);
    if (!err)
      err = weft__message_add(to, p);
    else if (p.release)
      p.release(p.arg);
  }
  from->n_piece = 0;
  return err;
}

weft_err weft__message_add_named(message *m, int field, const char *name, const weft_tensor *t) {
  message inner = {0};
  weft_err err = weft__message_add_string(&inner, 1, name, strlen(name));
  if (!err) err = weft__message_add_tensor(&inner, 2, t);
  if (!err) err = weft__message_add_length(m, field, inner.size);
  if (!err) err = append(m, &inner);
  weft__message_finish(&inner);
  return err;
}
