/* battery.h - types and functions that the checks of the battery share. */
#ifndef WEFT_TESTS_BATTERY_H
#define WEFT_TESTS_BATTERY_H

#include "exec/session.h"
#include "tests/battery/case.h"
#include <stdarg.h>

void battery_fail(const test_case *c, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* As battery_fail, for a whole file of ops. */
void battery_fail_file(const char *stem, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* A session for the case's graph, with so many threads for loops; NULL, and the case has failed, if there is none. */
weft_session *battery_session(const case_graph *cg, const test_case *c, int intra_threads);
/* Assigns the case's variables; runs the node and fetches. */
weft_err battery_init(const case_graph *cg, weft_session *s, const test_case *c);
weft_err battery_run(const case_graph *cg, weft_session *s, const test_case *c, int n_fetch, const weft_out *fetch,
                     weft_tensor **out);
/* As above, for at most so many milliseconds; inputs that are constants are not fed. */
weft_err battery_run_for(const case_graph *cg, weft_session *s, const test_case *c, int n_fetch, const weft_out *fetch,
                         weft_tensor **out, int64_t timeout_ms);
int battery_outputs(const case_graph *cg, weft_out *fetch);

/* Gradients against finite differences (tests/battery/slope.c). */
void ask_gradient(const test_case *c, const op_table *ops);

/* A file without cases names tests that exist (tests/battery/scenario.c). */
void ask_scenario(const char *stem, const op *list, bool has_cases);

/* Inputs of shapes that the case does not have: no crash (tests/battery/odd.c). */
void ask_odd(test_case *c, const op_table *ops);
void ask_odd_without_cases(const op *o, const op_table *ops);

/* Says what differs between want and got; true if nothing does. */
bool battery_agree(const test_case *c, const char *what, int i, const weft_tensor *want, const weft_tensor *got);

/* The case on a device against the CPU, in every type both have; how many were asked (tests/battery/device.c). */
int ask_device(const op_table *ops, const op *o, const op_case *oc, const char *on);

/* The case while its inputs are written to, one after the other; how many were (tests/battery/peer.c). */
int ask_peer(const op_table *ops, const op *o, const op_case *oc);

#endif
