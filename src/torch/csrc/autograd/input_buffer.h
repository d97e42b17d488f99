#pragma once
// The gradients that have reached a node so far, summed per input.

#include <aten/Tensor.h>

#include <vector>

namespace torch::autograd {

// Whether the caller's handle is the only way to the tensor's memory (a view's base that only the view keeps
// does not count), so that it may be overwritten.
bool is_only_owner(const at::Tensor& tensor);

// Their sum; a strided gradient takes a sparse one, not the other way round.
at::Tensor add_gradients(const at::Tensor& left, const at::Tensor& right);

class InputBuffer {
 public:
  explicit InputBuffer(size_t inputs) : gradients_(inputs) {}
  // Adds to input `input_nr`; in place where nobody can see it.
  void add(size_t input_nr, at::Tensor gradient);
  const at::Tensor& operator[](size_t input_nr) const { return gradients_[input_nr]; }
  std::vector<at::Tensor> take() { return std::move(gradients_); }

 private:
  std::vector<at::Tensor> gradients_;
};

}  // namespace torch::autograd
