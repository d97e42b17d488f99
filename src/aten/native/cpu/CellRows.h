#pragma once
// What the gates' functions of a recurrent network read and write, for one sequence at one step: rows of numbers.

namespace at::native::cpu {

template <typename T>
struct CellForward {
  T* gates;         // in: products with the input (Lstm, Tanh, Relu: and with the state); out: after their functions
  T* kept;          // Lstm: c; Gru: in: the state's part of the third gate, out: with its bias
  const T* b_ih;    // never null
  const T* b_hh;
  T* h;             // the state, before and after; not of a projected one: after
  T* c;
  T* output;
};

template <typename T>
struct CellBackward {
  const T* gates;
  const T* kept;
  const T* before;  // h, or of an Lstm c, before the step
  const T* output;
  T* grad_gates;
  T* grad_state_gates;  // Gru: with respect to what the state adds
  // In: of h after the step, all of it; out, Gru: before the step, without what comes through the gates.
  T* grad_h;
  T* grad_c;       // in: after, out: before the step
  T* unprojected;  // h before its projection, or null
};

}  // namespace at::native::cpu
