/* jpeg.c - JPEG through libjpeg. libjpeg reports errors by a callback that must not return.  Ours jumps back to the
 * function that called setjmp, which frees everything. */
#include "codec/image.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

#ifdef WEFT_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

typedef struct errors {
  struct jpeg_error_mgr base; /* must be first: libjpeg passes a pointer to it, which is cast back */
  jmp_buf jump;
} errors;

static void jpeg_on_error(j_common_ptr info) { longjmp(((errors *)info->err)->jump, 1); }
static void on_message(j_common_ptr info) { (void)info; }
static void on_level(j_common_ptr info, int level) {
  (void)info;
  (void)level;
}

static struct jpeg_error_mgr *errors_init(errors *e) {
  jpeg_std_error(&e->base);
  e->base.error_exit = jpeg_on_error;
  e->base.output_message = on_message;
  e->base.emit_message = on_level;
  return &e->base;
}

/* ---- decoding ---- */

typedef struct input {
  struct jpeg_source_mgr base;
  bool recover; /* treat the end of the bytes as the end of the file */
} input;

static void on_init(j_decompress_ptr info) { (void)info; }

static boolean on_empty(j_decompress_ptr info) {
  static const JOCTET end[] = {0xff, JPEG_EOI};
  input *in = (input *)info->src;
  if (!in->recover) ERREXIT(info, JERR_INPUT_EOF);
  in->base.next_input_byte = end;
  in->base.bytes_in_buffer = sizeof end;
  return TRUE;
}

static void on_skip(j_decompress_ptr info, long n) {
  struct jpeg_source_mgr *in = info->src;
  while (n > 0 && (size_t)n > in->bytes_in_buffer) {
    n -= (long)in->bytes_in_buffer;
    in->bytes_in_buffer = 0;
    on_empty(info);
  }
  if (n <= 0) return;
  in->next_input_byte += n;
  in->bytes_in_buffer -= (size_t)n;
}

/* A small file must not cost much time or memory.  A block of 64 pixels takes at least one bit of a complete file,
 * so larger images are rejected before memory is allocated.  A progressive file passes over the image once for each
 * scan, and a scan may have only a few bytes; so we count the samples that are visited. */
enum { SMALL_PIXELS = 1 << 24, PIXELS_PER_BYTE = 1024, SMALL_VISITS = 1 << 26, VISITS_PER_BYTE = 1 << 16 };
#define MAX_VISITS ((int64_t)1 << 33)

typedef struct monitor {
  struct jpeg_progress_mgr base; /* must be first: libjpeg passes a pointer to it, which is cast back */
  int64_t visits, most;          /* samples visited so far, and their limit */
} monitor;

/* Called before each row of blocks is read. */
static void on_progress(j_common_ptr common) {
  j_decompress_ptr info = (j_decompress_ptr)common;
  monitor *m = (monitor *)common->progress;
  m->visits += (int64_t)info->MCUs_per_row * info->blocks_in_MCU * DCTSIZE2;
  if (m->visits > m->most) ERREXIT(common, JERR_BAD_PROGRESSION);
}

static void monitor_init(monitor *m, size_t size) {
  const int64_t bytes = size < (size_t)(MAX_VISITS / VISITS_PER_BYTE) ? (int64_t)size : MAX_VISITS / VISITS_PER_BYTE;
  *m = (monitor){.base.progress_monitor = on_progress, .most = SMALL_VISITS + bytes * VISITS_PER_BYTE};
  if (m->most > MAX_VISITS) m->most = MAX_VISITS;
}

typedef struct reader {
  struct jpeg_decompress_struct info;
  errors errors;
  input input;
  monitor monitor;
  size_t size; /* bytes of the file */
  decoded_image *out;
  unsigned char *row; /* one row of CMYK samples, if the file has four components */
  int64_t rows;       /* rows read so far */
} reader;

/* Converts CMYK to RGB.  Adobe's files store inverted values. */
static void from_inks(const unsigned char *in, unsigned char *out, int64_t width, bool inverted) {
  WEFT_ASSERT(width > 0);
  for (int64_t x = 0; x < width; x++)
    for (int c = 0; c < 3; c++) {
      const int ink = in[4 * x + c], black = in[4 * x + 3];
      out[3 * x + c] = (unsigned char)(inverted ? ink * black / 255 : (255 - ink) * (255 - black) / 255);
    }
}

/* Checks the size before libjpeg allocates memory for a progressive image. */
static weft_err jpeg_check_size(const reader *r, const jpeg_options *o) {
  const int64_t width = r->info.image_width, height = r->info.image_height, pixels = width * height;
  if (pixels * r->info.num_components > DECODED_IMAGE_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a JPEG of %lld x %lld x %d samples is too large (at most %lld)",
                      (long long)height, (long long)width, r->info.num_components, (long long)DECODED_IMAGE_MAX);
  if (!o->recover && pixels > SMALL_PIXELS && (size_t)(pixels / PIXELS_PER_BYTE) > r->size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid JPEG data: %zu bytes cannot hold %lld x %lld pixels", r->size,
                      (long long)height, (long long)width);
  return WEFT_OK;
}

/* longjmp may leave this function at any call into libjpeg. */
static weft_err jpeg_read_all(reader *r, const jpeg_options *o) {
  j_decompress_ptr info = &r->info;
  jpeg_read_header(info, TRUE);
  WEFT_TRY(jpeg_check_size(r, o));
  int channels = o->channels;
  if (channels == 0) channels = info->num_components == 1 ? 1 : 3;
  const bool inks = info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
  if (inks && channels == 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  info->out_color_space = inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info->scale_num = 1;
  info->scale_denom = (unsigned)o->ratio;
  info->do_fancy_upsampling = o->fancy_upscaling;
  info->dct_method = o->accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_start_decompress(info);
  *r->out = (decoded_image){
      .frames = 1, .height = info->output_height, .width = info->output_width, .channels = channels, .bits = 8};
  WEFT_TRY(weft__decoded_image_alloc(r->out));
  if (inks && !(r->row = weft__alloc((size_t)r->out->width * 4))) return WEFT_OOM;
  while (r->rows < r->out->height) {
    unsigned char *dst = (unsigned char *)r->out->pixels + r->rows * r->out->width * channels;
    JSAMPROW row = inks ? r->row : dst;
    if (jpeg_read_scanlines(info, &row, 1) != 1) break;
    if (inks) from_inks(r->row, dst, r->out->width, info->saw_Adobe_marker);
    r->rows++;
  }
  if (r->rows == r->out->height) jpeg_finish_decompress(info);
  return WEFT_OK;
}

static weft_err jpeg_guarded(reader *r, const jpeg_options *o) {
  if (setjmp(r->errors.jump)) {
    const decoded_image *p = r->out;
    if (p->pixels && r->rows > 0 && (float)r->rows >= o->acceptable * (float)p->height) return WEFT_OK;
    return weft__fail(WEFT_INVALID_ARGUMENT, "jpeg::Uncompress failed. Invalid JPEG data or crop window.");
  }
  jpeg_create_decompress(&r->info);
  r->info.src = &r->input.base;
  r->info.progress = &r->monitor.base;
  return jpeg_read_all(r, o);
}

/* Creates a reader of these bytes.  Returns NULL if memory is short. */
static reader *reader_create(const void *data, size_t size, bool recover) {
  reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return NULL;
  r->size = size;
  r->info.err = errors_init(&r->errors);
  monitor_init(&r->monitor, size);
  r->input = (input){.recover = recover};
  r->input.base = (struct jpeg_source_mgr){.next_input_byte = data,
                                           .bytes_in_buffer = size,
                                           .init_source = on_init,
                                           .fill_input_buffer = on_empty,
                                           .skip_input_data = on_skip,
                                           .resync_to_restart = jpeg_resync_to_restart,
                                           .term_source = on_init};
  return r;
}

weft_err weft__jpeg_decode(decoded_image *out, const void *data, size_t size, const jpeg_options *o) {
  reader *r = reader_create(data, size, o->recover);
  *out = (decoded_image){0};
  if (!r) return WEFT_OOM;
  r->out = out;
  const weft_err err = jpeg_guarded(r, o);
  jpeg_destroy_decompress(&r->info);
  weft__free(r->row);
  weft__free(r);
  if (err) {
    weft__free(out->pixels);
    *out = (decoded_image){0};
  }
  return err;
}

static weft_err guarded_size(reader *r, int64_t *size) {
  if (setjmp(r->errors.jump)) return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid JPEG data, size %zu", r->size);
  jpeg_create_decompress(&r->info);
  r->info.src = &r->input.base;
  jpeg_read_header(&r->info, TRUE);
  size[0] = r->info.image_height, size[1] = r->info.image_width, size[2] = r->info.num_components;
  return WEFT_OK;
}

weft_err weft__jpeg_size(const void *data, size_t size, int64_t *out) {
  reader *r = reader_create(data, size, false);
  if (!r) return WEFT_OOM;
  const weft_err err = guarded_size(r, out);
  jpeg_destroy_decompress(&r->info);
  weft__free(r);
  return err;
}

/* ---- encoding ---- */

enum { CHUNK = 16384 };

typedef struct writer {
  struct jpeg_compress_struct info;
  errors errors;
  struct jpeg_destination_mgr to;
  text *out;
  JOCTET chunk[CHUNK];
} writer;

static writer *writer_of(j_compress_ptr info) { return info->client_data; }

static void on_begin(j_compress_ptr info) {
  writer *w = writer_of(info);
  w->to.next_output_byte = w->chunk;
  w->to.free_in_buffer = CHUNK;
}

static boolean on_full(j_compress_ptr info) {
  writer *w = writer_of(info);
  weft__text_add(w->out, (const char *)w->chunk, CHUNK);
  on_begin(info);
  return TRUE;
}

static void on_end(j_compress_ptr info) {
  writer *w = writer_of(info);
  weft__text_add(w->out, (const char *)w->chunk, CHUNK - w->to.free_in_buffer);
}

static void set_encoding(j_compress_ptr info, const jpeg_encoding *e) {
  jpeg_set_defaults(info);
  if (!e->downsample_chroma) info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = 1;
  info->optimize_coding = e->optimize;
  info->density_unit = e->per_cm ? 2 : 1;
  info->X_density = (UINT16)e->x_density;
  info->Y_density = (UINT16)e->y_density;
  jpeg_set_quality(info, e->quality, TRUE);
  if (e->progressive) jpeg_simple_progression(info);
}

static void write_xmp(j_compress_ptr info, const jpeg_encoding *e) {
  static const char name[] = "http://ns.adobe.com/xap/1.0/"; /* includes its NUL */
  if (e->xmp_size == 0) return;
  jpeg_write_m_header(info, JPEG_APP0 + 1, (unsigned)(sizeof name + e->xmp_size));
  for (size_t i = 0; i < sizeof name; i++) jpeg_write_m_byte(info, name[i]);
  for (size_t i = 0; i < e->xmp_size; i++) jpeg_write_m_byte(info, (unsigned char)e->xmp[i]);
}

static weft_err jpeg_write_all(writer *w, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                               const jpeg_encoding *e) {
  j_compress_ptr info = &w->info;
  if (setjmp(w->errors.jump)) return weft__fail(WEFT_INTERNAL, "JPEG encoding failed");
  jpeg_create_compress(info);
  info->client_data = w;
  info->dest = &w->to;
  info->image_width = (JDIMENSION)width;
  info->image_height = (JDIMENSION)height;
  info->input_components = channels;
  info->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  set_encoding(info, e);
  jpeg_start_compress(info, TRUE);
  write_xmp(info, e);
  while (info->next_scanline < info->image_height) {
    JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + (int64_t)info->next_scanline * width * channels);
    jpeg_write_scanlines(info, &row, 1);
  }
  jpeg_finish_compress(info);
  return WEFT_OK;
}

weft_err weft__jpeg_encode(text *out, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                           const jpeg_encoding *e) {
  if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION || e->xmp_size > 65000)
    return weft__fail(WEFT_INTERNAL, "JPEG encoding failed");
  writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->out = out;
  w->info.err = errors_init(&w->errors);
  w->to = (struct jpeg_destination_mgr){
      .init_destination = on_begin, .empty_output_buffer = on_full, .term_destination = on_end};
  weft_err err = jpeg_write_all(w, pixels, height, width, channels, e);
  jpeg_destroy_compress(&w->info);
  weft__free(w);
  return err;
}

#else

weft_err weft__jpeg_decode(decoded_image *out, const void *data, size_t size, const jpeg_options *o) {
  (void)data, (void)size, (void)o;
  *out = (decoded_image){0};
  return weft__fail(WEFT_UNIMPLEMENTED, "JPEG decoding: this build has no libjpeg");
}

weft_err weft__jpeg_size(const void *data, size_t size, int64_t *out) {
  (void)data, (void)size, (void)out;
  return weft__fail(WEFT_UNIMPLEMENTED, "the size of a JPEG: this build has no libjpeg");
}

weft_err weft__jpeg_encode(text *out, const uint8_t *pixels, int64_t height, int64_t width, int channels,
                           const jpeg_encoding *e) {
  (void)out, (void)pixels, (void)height, (void)width, (void)channels, (void)e;
  return weft__fail(WEFT_UNIMPLEMENTED, "JPEG encoding: this build has no libjpeg");
}

#endif
