#include "exec/flow.h"
weft_err weft__flow_run(plan *p, plan_run *run, pool *tasks) {
  (void)p, (void)run, (void)tasks;
  return weft__fail(WEFT_UNIMPLEMENTED, "control flow");
}
