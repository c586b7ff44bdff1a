/* hash.h - the published hashes that TensorFlow uses for strings.
 *
 * Checkpoints, vocabularies and crossed features depend on the numbers.  The functions have no state. */
#ifndef WEFT_CODEC_HASH_H
#define WEFT_CODEC_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t weft__hash_murmur(const char *s, size_t n);                            /* MurmurHash64A */
uint64_t weft__hash_farm(const char *s, size_t n);                              /* FarmHash's Fingerprint64 */
void weft__hash_farm128(const char *s, size_t n, uint64_t out[2]);              /* FarmHash's Fingerprint128 */
uint64_t weft__hash_sip(const char *s, size_t n, uint64_t key0, uint64_t key1); /* SipHash-2-4 */
/* Combines two hashes, in this order, as MurmurHash64A does with two words. */
uint64_t weft__hash_join(uint64_t a, uint64_t b);

#endif
