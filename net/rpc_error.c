/* rpc_error.c - which texts mean which facts: TensorFlow's words, and two of our own. */
#include "net/rpc_error.h"
#include "state/queue.h"
#include <string.h>

weft_err weft__rpc_error(weft_err code) {
  static const struct {
    error_fact fact;
    const char *text; /* a message that contains it has the fact */
  } known[] = {{ERROR_UNINITIALIZED, "uninitialized"},
               {ERROR_NAMES_NODE, "{{node "},
               {ERROR_DERIVED, WEFT_DERIVED},
               {ERROR_JOB_OVER, WEFT_JOB_OVER},
               {ERROR_TOKENS_CLOSED, SYNC_TOKEN_QUEUE}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strstr(weft__error_message(), known[i].text)) (void)weft__error_add_facts(code, known[i].fact);
  return code;
}
