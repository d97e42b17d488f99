#pragma once
// One direction of one layer of a recurrent network, over rows: what happens at all steps lies in one matrix, those of
// the sequences that are still there at step t next to each other, batch_sizes[t] of them. A padded batch has the same
// size at every step; sequences of a packed one end, the last ones first.

#include <aten/Tensor.h>

#include <vector>

namespace at::native {

// What a step computes: as numbered in rows of native_functions.yaml.
enum class Cell : int64_t { Tanh, Relu, Lstm, Gru };

// Rows of the weights for each element of the state.
inline int64_t gates_of(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }

struct RecurrenceWeights {
  Tensor w_ih, w_hh;  // (gates * hidden, features), (gates * hidden, states)
  Tensor b_ih, b_hh;  // (gates * hidden), or undefined
  Tensor w_hr;        // (states, hidden): h is projected; undefined: states == hidden
};

// h: (batch, states); c: (batch, hidden) of an LSTM, else undefined.
struct RecurrenceState {
  Tensor h, c;
};

// What a kernel is told beside tensors. All weights are contiguous and of the type that is computed in.
struct Recurrence {
  Cell cell;
  bool reverse;  // from the last step to the first
  IntArrayRef batch_sizes;
  RecurrenceWeights weights;
};

// The output of every step (rows, states), and the last state, made of operators: for every device,
// type and derivative.
std::pair<Tensor, RecurrenceState> run_recurrence_by_operators(Cell cell, const Tensor& input, RecurrenceState state,
                                                               const RecurrenceWeights& weights,
                                                               IntArrayRef batch_sizes, bool reverse);

}  // namespace at::native
