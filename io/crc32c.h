/* crc32c.h - the checksum of TFRecords, tables and bundles. */
#ifndef WEFT_IO_CRC32C_H
#define WEFT_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of what `crc` was the CRC of, followed by data; 0 is the CRC of nothing. */
uint32_t weft__crc32c(uint32_t crc, const void *data, size_t size);
/* The same without the processor's instruction: the twin that tests hold the other against. */
uint32_t weft__crc32c_portable(uint32_t crc, const void *data, size_t size);

/* What is stored is masked: a CRC of bytes that hold CRCs would be weak. */
static inline uint32_t weft__crc32c_mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
static inline uint32_t weft__crc32c_unmask(uint32_t masked) {
  uint32_t rot = masked - 0xa282ead8u;
  return (rot >> 17) | (rot << 15);
}

#endif
