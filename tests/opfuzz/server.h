/* server.h - a `weft serve` that the graphs are sent to. */
#ifndef WEFT_TESTS_OPFUZZ_SERVER_H
#define WEFT_TESTS_OPFUZZ_SERVER_H

#include "net/rpc.h"
#include "tests/opfuzz/worker.h"

#define SERVER_LOG "server.log"
#define SERVER_LOG_BEFORE "server-died.log" /* of the one that died */

/* Starts one on a free port, in the current folder; its address.  Exits if it cannot. */
const char *server_start(const char *weft);
void server_stop(void);
/* After a death: keeps its log, starts another at the same address. */
void server_revive(const options *o, int64_t index);
/* Waits until it answers. */
weft_err server_connect(channel **c, const char *address);
bool server_answers(channel *c);

#endif
