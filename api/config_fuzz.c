/* config_fuzz.c - bytes read as a ConfigProto: a session that runs, or an error.
 * fuzz runs: 3000 */
#include "weft/weft.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static weft_graph *g;
  static weft_out sum;
  weft_session *s = NULL;
  weft_tensor *t = NULL;
  if (!g) {
    if (weft_graph_create(&g) != WEFT_OK) abort();
    sum = weft_add(g, weft_scalar(g, WEFT_FLOAT, 1), weft_scalar(g, WEFT_FLOAT, 2));
  }
  if (weft_session_create(&s, g, &(weft_session_opts){.config = data, .config_size = size}) == WEFT_OK &&
      weft_session_fetch(&t, s, sum) != WEFT_OK && t)
    abort(); /* a run that failed leaves no tensor */
  weft_tensor_destroy(t);
  weft_session_destroy(s);
  return 0;
}
