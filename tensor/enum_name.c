/* enum_name.c - the numbers of the enums that files in protobuf's text format name. */
#include "tensor/enum_name.h"
#include "tensor/dtype.h"

#include <ctype.h>
#include <string.h>

bool weft__enum_number(const char *name, int32_t *number) {
  static const char *const versions[] = {"LEGACY", "V1", "V2"};
  char spelt[32] = {0};
  for (int32_t i = 0; i < 3; i++)
    if (strcmp(name, versions[i]) == 0) return *number = i, true;
  size_t n = strlen(name);
  if (n >= sizeof spelt || strncmp(name, "DT_", 3) != 0) return false;
  const bool is_ref = n > 7 && strcmp(name + n - 4, "_REF") == 0;
  n -= is_ref ? 7 : 3;
  for (size_t i = 0; i < n; i++) spelt[i] = (char)tolower((unsigned char)name[3 + i]);
  const weft_dtype found = weft__dtype_parse(spelt, n);
  *number = (int32_t)found + (is_ref ? WEFT_REF_BASE : 0);
  return found != WEFT_INVALID || strcmp(name, "DT_INVALID") == 0;
}
