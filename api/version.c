/* version.c - the version of the build and of the libraries that it uses. */
#include "kernels/gemm/gemm_library.h"
#include "weft/weft.h"

#include <protobuf-c/protobuf-c.h>
#include <pthread.h>
#include <stdio.h>
#ifdef WEFT_HAVE_PNG
#include <png.h>
#endif
#ifdef WEFT_HAVE_JPEG
#include <stddef.h>
#include <jpeglib.h>
#endif
#ifdef WEFT_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef WEFT_HAVE_GRPC
#include <grpc/grpc.h>
#endif
#ifdef WEFT_HAVE_MICROHTTPD
#include <microhttpd.h>
#endif
#define TEXT_OF(x) #x
#define VERSION_TEXT(x) TEXT_OF(x)

const char *weft_version(void) { return WEFT_VERSION; }

static char libraries[1024];

/* Adds a line.  If version is NULL, this build does not have the library. */
static void version_add(const char *name, const char *version, const char *what_for) {
  static size_t used;
  const int n = snprintf(libraries + used, sizeof libraries - used, "  %-14s %-28.28s %s\n", name,
                         version ? version : "not built in", what_for);
  if (n > 0) used += (size_t)n;
}

static void list_libraries(void) {
  const char *png = NULL, *jpeg = NULL, *zlib = NULL, *grpc = NULL, *http = NULL;
#ifdef WEFT_HAVE_PNG
  png = PNG_LIBPNG_VER_STRING;
#endif
#ifdef WEFT_HAVE_JPEG
#ifdef LIBJPEG_TURBO_VERSION
  jpeg = VERSION_TEXT(LIBJPEG_TURBO_VERSION);
#else
  jpeg = VERSION_TEXT(JPEG_LIB_VERSION);
#endif
#endif
#ifdef WEFT_HAVE_ZLIB
  zlib = zlibVersion();
#endif
#ifdef WEFT_HAVE_GRPC
  char grpc_text[64]; /* the library reports the version of its core, not of the release */
  snprintf(grpc_text, sizeof grpc_text, "%s%score %s", WEFT_GRPC_RELEASE, *WEFT_GRPC_RELEASE ? ", " : "",
           grpc_version_string());
  grpc = grpc_text;
#endif
#ifdef WEFT_HAVE_MICROHTTPD
  char http_text[32]; /* 0x00097500 is 0.9.75 */
  snprintf(http_text, sizeof http_text, "%x.%x.%x", (unsigned)MHD_VERSION >> 24, (unsigned)MHD_VERSION >> 16 & 0xff,
           (unsigned)MHD_VERSION >> 8 & 0xff);
  http = http_text;
#endif
  version_add("protobuf-c", protobuf_c_version(), "messages and files");
  version_add("gRPC", grpc, "clusters");
  version_add("OpenBLAS", weft__gemm_library_blas_version(), "matrix products");
  version_add("oneDNN", weft__gemm_library_dnnl_version(), "matrix products");
  version_add("libpng", png, "PNG images");
  version_add("libjpeg", jpeg, "JPEG images");
  version_add("zlib", zlib, "gzip data sets");
  version_add("libmicrohttpd", http, "the status page");
}

const char *weft_libraries(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, list_libraries);
  return libraries;
}
