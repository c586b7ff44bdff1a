/* sanitizer.h - defines WEFT_SANITIZED in builds with a sanitizer (the build option WEFT_SANITIZE), and
 * WEFT_SANITIZED_ADDRESS where that is AddressSanitizer.
 *
 * Such builds check more than others (base/assert.h) and leave out what would hide errors from the sanitizer, such as
 * caches of freed memory (base/block.c). */
#ifndef WEFT_BASE_SANITIZER_H
#define WEFT_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_SANITIZED_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_SANITIZED_ADDRESS 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define WEFT_SANITIZED 1
#endif
#endif

#endif
