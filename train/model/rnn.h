/* rnn.h - recurrent cells, unrolled when the graph is built or run in a loop. */
#ifndef WEFT_TRAIN_MODEL_RNN_H
#define WEFT_TRAIN_MODEL_RNN_H

#include "train/model/layer.h"

typedef enum cell_kind { CELL_BASIC_LSTM, CELL_GRU } cell_kind;

typedef struct cell {
  cell_kind kind;
  int64_t units;
  double forget_bias;
  initializer kernel;
} cell;

enum { CELL_STATES = 2 }; /* maximum: c and h for LSTM; GRU has one; the last one is the output */
/* Returns the number of states of a cell, 1 or 2. */
int weft__rnn_cell_states(const cell *c);

typedef struct rnn {
  const char *name; /* name of the scope; NULL: "rnn" */
  reuse_mode reuse;
  weft_out length;         /* length of each sequence (int32 or int64); WEFT_NONE: full length */
  const weft_out *initial; /* one per state of the cell; NULL: zeros */
  bool time_major;         /* dynamic: (time, batch, depth) */
} rnn;

/* n inputs of (batch, depth), one for each time step. */
void weft__static_rnn(weft_graph *g, const cell *c, int n, const weft_out *x, const rnn *r, weft_out *outputs,
                      weft_out *state);
/* x: (batch, time, depth). */
weft_out weft__dynamic_rnn(weft_graph *g, const cell *c, weft_out x, const rnn *r, weft_out *state);

#endif
