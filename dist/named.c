/* named.c - the inner message is made first, because its length stands before it. */
#include "dist/named.h"

#include <string.h>

weft_err weft__message_add_named(message *m, int field, const char *name, const weft_tensor *t) {
  message inner = {0};
  weft_err err = weft__message_add_string(&inner, 1, name, strlen(name));
  if (!err) err = weft__message_add_tensor(&inner, 2, t);
  if (!err) err = weft__message_add_message(m, field, &inner);
  weft__message_finish(&inner);
  return err;
}
