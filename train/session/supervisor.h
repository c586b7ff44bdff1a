/* supervisor.h - tf.train.Supervisor: a session that is ready, recovers and is saved, and its service threads. */
#ifndef WEFT_TRAIN_SESSION_SUPERVISOR_H
#define WEFT_TRAIN_SESSION_SUPERVISOR_H

#include "train/session/coordinator.h"
#include "train/checkpoint/saver.h"
#include "weft/supervise.h"

/* As the public functions of these names (weft/supervise.h), whose arguments were checked before. */
weft_err weft__supervisor_create(weft_supervisor **out, weft_graph *g, const weft_supervisor_opts *opts);
void weft__supervisor_destroy(weft_supervisor *sv); /* stops first */
weft_err weft__supervisor_session(weft_session **out, weft_supervisor *sv, const char *target,
                                  const weft_session_opts *config, const weft_supervisor_wait *wait);
weft_err weft__supervisor_start_services(weft_supervisor *sv, weft_session *sess);
weft_err weft__supervisor_stop(weft_supervisor *sv, bool keep_writer, bool ignore_live);
weft_coordinator *weft__supervisor_coordinator(weft_supervisor *sv);
weft_saver *weft__supervisor_saver(weft_supervisor *sv);
weft_event_writer *weft__supervisor_writer(weft_supervisor *sv);
weft_out weft__supervisor_global_step(weft_supervisor *sv);
const char *weft__supervisor_save_path(weft_supervisor *sv);
weft_err weft__supervisor_add_summary(weft_supervisor *sv, weft_session *sess, const void *summary, size_t size,
                                      const int64_t *at);

#endif
