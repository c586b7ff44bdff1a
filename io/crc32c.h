/* crc32c.h - the checksum of TFRecords, tables and bundles. */
#ifndef WEFT_IO_CRC32C_H
#define WEFT_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends `crc`, the CRC of some bytes, by the bytes at data.  0 is the CRC of no bytes. */
uint32_t weft__crc32c(uint32_t crc, const void *data, size_t size);
/* The same without the processor's instruction; tests compare the two. */
uint32_t weft__crc32c_portable(uint32_t crc, const void *data, size_t size);

/* Files store the CRC masked, because a CRC over bytes that contain CRCs would be weak. */
static inline uint32_t weft__crc32c_mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
static inline uint32_t weft__crc32c_unmask(uint32_t masked) {
  uint32_t rot = masked - 0xa282ead8u;
  return (rot >> 17) | (rot << 15);
}

#endif
