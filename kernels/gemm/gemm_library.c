/* gemm_library.c - loads oneDNN and OpenBLAS, and calls them.
 *
 * Each library is loaded once, under a pthread_once_t, and never unloaded.  libweft itself is linked to neither: the
 * name of a library's file comes from the build (cmake/WeftLibraries.cmake). */
#include "kernels/gemm/gemm_library.h"
#include "base/cast.h"
#include "base/log.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if WEFT_HAVE_OPENBLAS || WEFT_HAVE_DNNL

/* Returns the library, or NULL, which is logged: products are then computed by Weft's own code. */
static void *library_open(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) weft__log(LOG_WARNING, "products of matrices use Weft's own code, which may be slower: %s", dlerror());
  return library;
}

#endif

/* ---- oneDNN ---- */

#if WEFT_HAVE_DNNL
#include <oneapi/dnnl/dnnl.h>

static struct {
  pthread_once_t once;
  __typeof__(&dnnl_sgemm) sgemm; /* NULL: the library is not there */
  void (*set_threads)(int);      /* of the OpenMP library that it may use, for the calling thread only; or NULL */
  char version[32];
} dnnl = {.once = PTHREAD_ONCE_INIT, .version = "not found"};

static void dnnl_load(void) {
  void *library = library_open(WEFT_DNNL_FILE);
  if (!library) return;
  const dnnl_version_t *(*version)(void);
  *(void **)&version = dlsym(library, "dnnl_version");
  *(void **)&dnnl.set_threads = dlsym(library, "omp_set_num_threads"); /* dlsym looks into what it depends on, too */
  *(void **)&dnnl.sgemm = dlsym(library, "dnnl_sgemm");
  if (version)
    snprintf(dnnl.version, sizeof dnnl.version, "%d.%d.%d", version()->major, version()->minor, version()->patch);
}

static void dnnl_load_once(void) { pthread_once(&dnnl.once, dnnl_load); }

bool weft__gemm_library_has_dnnl(void) {
#ifdef __x86_64__
  dnnl_load_once();
  return dnnl.sgemm != NULL;
#else
  return false;
#endif
}

bool weft__gemm_library_dnnl(const gemm *g) {
  if (!weft__gemm_library_has_dnnl()) return false;
  if (dnnl.set_threads) dnnl.set_threads(1);
  return dnnl.sgemm(g->ta ? 'T' : 'N', g->tb ? 'T' : 'N', g->m, g->n, g->k, 1.0f, g->a, g->lda, g->b, g->ldb,
                    g->accumulate ? 1.0f : 0.0f, g->c, g->ldc) == dnnl_success;
}

const char *weft__gemm_library_dnnl_version(void) {
  dnnl_load_once();
  return dnnl.version;
}

#else

bool weft__gemm_library_has_dnnl(void) { return false; }
bool weft__gemm_library_dnnl(const gemm *g) { return (void)g, false; }
const char *weft__gemm_library_dnnl_version(void) { return NULL; }

#endif

/* ---- OpenBLAS ---- */

#if WEFT_HAVE_OPENBLAS
#include <cblas.h>

#define BLAS_FUNCTIONS(X)                                                                                              \
  X(sgemm)                                                                                                             \
  X(dgemm)                                                                                                             \
  X(cgemm)                                                                                                             \
  X(zgemm)

static struct {
  pthread_once_t once;
  bool knows_processor; /* false, too, if the library is not there */
  char version[32];
#define DECLARE(f) __typeof__ (&cblas_##f)(f);
  BLAS_FUNCTIONS(DECLARE)
} blas = {.once = PTHREAD_ONCE_INIT, .version = "not found"};

/* `config` is like "OpenBLAS 0.3.21 NO_LAPACKE ...".  For an unknown processor OpenBLAS uses the code of the oldest. */
static void blas_describe(const char *config, const char *core) {
  if (sscanf(config, "OpenBLAS %31s", blas.version) != 1) snprintf(blas.version, sizeof blas.version, "found");
  blas.knows_processor = strcmp(core, "Prescott") != 0;
}

static void blas_load(void) {
  void *library = library_open(WEFT_OPENBLAS_FILE);
  bool found = library != NULL;
  void (*set_threads)(int) = NULL;
  char *(*config)(void) = NULL, *(*core)(void) = NULL;
  if (!library) return;
#define FIND(f) found = found && (*(void **)&blas.f = dlsym(library, "cblas_" #f)) != NULL;
  BLAS_FUNCTIONS(FIND)
  *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
  *(void **)&config = dlsym(library, "openblas_get_config");
  *(void **)&core = dlsym(library, "openblas_get_corename");
  if (!found || !set_threads || !config || !core) {
    weft__log(LOG_WARNING, "%s lacks a function: products of matrices use Weft's own code", WEFT_OPENBLAS_FILE);
    return;
  }
  set_threads(1);
  blas_describe(config(), core());
}

static void blas_load_once(void) { pthread_once(&blas.once, blas_load); }

bool weft__gemm_library_blas(const gemm *g) {
  blas_load_once();
  if (!blas.knows_processor) return false;
  const bool adjoint = g->adjoint && weft__dtype_class(g->type) == CLASS_COMPLEX;
  const CBLAS_TRANSPOSE flip = adjoint ? CblasConjTrans : CblasTrans;
  const CBLAS_TRANSPOSE ta = g->ta ? flip : CblasNoTrans, tb = g->tb ? flip : CblasNoTrans;
  const int m = weft__int_sat(g->m), n = weft__int_sat(g->n), k = weft__int_sat(g->k);
  const int lda = weft__int_sat(g->lda), ldb = weft__int_sat(g->ldb), ldc = weft__int_sat(g->ldc);
  const double one[2] = {1, 0}, beta[2] = {g->accumulate ? 1 : 0, 0};
  const float onef[2] = {1, 0}, betaf[2] = {g->accumulate ? 1 : 0, 0};
  if (g->type == WEFT_FLOAT)
    blas.sgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, betaf[0], g->c, ldc);
  else if (g->type == WEFT_DOUBLE)
    blas.dgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, beta[0], g->c, ldc);
  else if (g->type == WEFT_COMPLEX64)
    blas.cgemm(CblasRowMajor, ta, tb, m, n, k, onef, g->a, lda, g->b, ldb, betaf, g->c, ldc);
  else
    blas.zgemm(CblasRowMajor, ta, tb, m, n, k, one, g->a, lda, g->b, ldb, beta, g->c, ldc);
  return true;
}

const char *weft__gemm_library_blas_version(void) {
  blas_load_once();
  return blas.version;
}

#else

bool weft__gemm_library_blas(const gemm *g) { return (void)g, false; }
const char *weft__gemm_library_blas_version(void) { return NULL; }

#endif
