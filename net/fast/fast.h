/* fast.h - Weft's own transport, between two tasks that are both Weft.
 *
 * A listener has a second, private way in: a unix socket for its host and a TCP port for others.  A
 * channel asks for it over gRPC, so that whoever may call may also come this way: the answer has a key
 * that must be shown first.  Losing the connection fails its calls with UNAVAILABLE; new ones go by gRPC
 * until the channel has found a way again. */
#ifndef WEFT_NET_FAST_FAST_H
#define WEFT_NET_FAST_FAST_H

#include "net/internal.h"

#define FAST_METHOD "/weft.Net/Fast"

typedef struct fast_port fast_port;
weft_err weft__fast_listen(fast_port **out, const listener_opts *opts, rpc_handler *fn, void *arg);
weft_err weft__fast_way(const fast_port *p, message *out); /* the answer to FAST_METHOD */
void weft__fast_close(fast_port *p);                       /* as weft__listener_destroy */

typedef struct fast_line fast_line;
/* Begins to connect; `way` is the peer's answer, `address` its "host:port" for messages, `host` where it is as a
 * number ("": on this host or nowhere).  changed is called when the line
 * can be used (true, at most once) and when it is lost (false, once, also when it was never usable). */
typedef void fast_changed(void *arg, fast_line *l, bool usable);
weft_err weft__fast_connect(fast_line **out, const char *address, const char *host, message *way, fast_changed *changed,
                            void *arg);
/* As weft__channel_call; false: the line is lost, and nothing was done. */
bool weft__fast_call(fast_line *l, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                     void *arg);
void weft__fast_flush(fast_line *l);      /* as weft__channel_flush */
void weft__fast_disconnect(fast_line *l); /* ends what runs and waits for it; not on a transport's thread */

#endif
