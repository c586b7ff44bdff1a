/* spec_fuzz.c - any bytes are a cluster or an error when read as text, TF_CONFIG, ClusterDef or Hello. */
#include "base/alloc.h"
#include "cluster/spec.h"
#include "peer.pb-c.h"
#include "proto/scan.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Serializes the cluster and reads it again. */
static void send_and_read(const cluster *c) {
  uint8_t *bytes;
  size_t size;
  ProtobufCMessage *def;
  cluster again;
  if (weft__cluster_to_def(c, &bytes, &size) != WEFT_OK) return;
  if (weft__proto_unpack(&def, &tensorflow__cluster_def__descriptor, bytes, size) != WEFT_OK) abort();
  if (weft__cluster_from_def(&again, (Tensorflow__ClusterDef *)def) != WEFT_OK) abort();
  if (weft__cluster_size(&again) != weft__cluster_size(c)) abort();
  weft__cluster_finish(&again);
  protobuf_c_message_free_unpacked(def, NULL);
  weft__free(bytes);
}

static void as_text(const char *text) {
  cluster c;
  char *job;
  int task;
  if (weft__cluster_parse(&c, text) == WEFT_OK) {
    send_and_read(&c);
    weft__cluster_finish(&c);
  }
  if (weft__cluster_from_tf_config(&c, text, &job, &task) == WEFT_OK) {
    send_and_read(&c);
    weft__cluster_finish(&c);
    weft__free(job);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ProtobufCMessage *m;
  cluster c;
  char *text = weft__strndup((const char *)data, size);
  if (text) as_text(text);
  weft__free(text);
  if (weft__proto_unpack(&m, &tensorflow__cluster_def__descriptor, data, size) == WEFT_OK) {
    if (weft__cluster_from_def(&c, (Tensorflow__ClusterDef *)m) == WEFT_OK) weft__cluster_finish(&c);
    protobuf_c_message_free_unpacked(m, NULL);
  }
  if (weft__proto_unpack(&m, &weft__hello__descriptor, data, size) == WEFT_OK)
    protobuf_c_message_free_unpacked(m, NULL);
  return 0;
}
