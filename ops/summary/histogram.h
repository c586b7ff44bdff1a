/* histogram.h - a histogram with TensorFlow's buckets, which grows value by value (ops/summary/summary_histogram.c).
 *
 * Not thread safe: its owner guards it. */
#ifndef WEFT_OPS_SUMMARY_HISTOGRAM_H
#define WEFT_OPS_SUMMARY_HISTOGRAM_H

#include "base/text.h"

typedef struct histogram histogram;

histogram *weft__histogram_create(void); /* freed with weft__free; NULL if memory is short */
/* Counts a value, which is finite: the caller refuses NaN and infinities. */
void weft__histogram_add(histogram *h, double v);
/* Appends a Summary.Value with the tag and the histogram to a Summary. */
void weft__histogram_put(const histogram *h, text *summary, const char *tag, size_t size);

#endif
