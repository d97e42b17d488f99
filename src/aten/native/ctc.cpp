// Connectionist temporal classification: checks, shapes and reductions.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/Views.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace at::native {

namespace {

constexpr const char* kChecking = " (while checking arguments for ctc_loss_allocate_outputs)";

// Tensors as the kernels read them: classes of log_probs side by side, targets in one piece, int64.
struct Problem {
  Tensor log_probs;
  Tensor targets;
  Tensor extents;  // 3 times batch: steps, lengths, where each one's targets begin
  int64_t longest = 0;
};

Tensor on_device(IntArrayRef numbers, c10::Device device, ScalarType dtype) {
  const Tensor host = at::detail::empty({static_cast<int64_t>(numbers.size())}, kLong, kCPU);
  std::copy(numbers.begin(), numbers.end(), host.data_ptr<int64_t>());
  return host.to(device, dtype);
}

void check_lengths(const char* name, IntArrayRef lengths, int64_t batch, int64_t most) {
  TORCH_CHECK(static_cast<int64_t>(lengths.size()) == batch, name, " must be of size batch_size");
  for (const int64_t length : lengths) {
    TORCH_CHECK(length >= 0, "Expected ", name, " to have value at least 0, but got value ", length, kChecking);
    TORCH_CHECK(length <= most, "Expected ", name, " to have value at most ", most, ", but got value ", length,
                kChecking);
  }
}

Problem problem_of(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                   IntArrayRef target_lengths, int64_t blank) {
  TORCH_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  TORCH_CHECK_NOT_IMPLEMENTED(log_probs.dtype() == kFloat || log_probs.dtype() == kDouble,
                              "\"ctc_loss_cpu\" not implemented for '", log_probs.dtype(), "'");
  TORCH_CHECK(log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
              "-dimensional tensor for argument #1 'log_probs'", kChecking);
  TORCH_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ", targets.dim(),
              "-dimensional tensor for argument #2 'targets'", kChecking);
  const int64_t batch = log_probs.sizes()[1];
  TORCH_CHECK(0 <= blank && blank < log_probs.sizes()[2], "blank must be in label range");
  check_lengths("input_lengths", input_lengths, batch, log_probs.sizes()[0]);
  check_lengths("target_lengths", target_lengths, batch, std::numeric_limits<int64_t>::max());

  Problem problem;
  problem.longest = *std::max_element(target_lengths.begin(), target_lengths.end());
  const bool joined = targets.dim() == 1;
  const auto check_size = [&](int64_t dim, int64_t expected, bool fits) {
    TORCH_CHECK(fits, "Expected tensor to have size ", dim == 1 ? "at least " : "", expected, " at dimension ", dim,
                ", but got size ", targets.sizes()[dim], " for argument #2 'targets'", kChecking);
  };
  if (joined) {
    const int64_t total = std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0});
    check_size(0, total, targets.sizes()[0] == total);
  } else {
    check_size(0, batch, targets.sizes()[0] == batch);
    check_size(1, problem.longest, targets.sizes()[1] >= problem.longest);
  }
  std::vector<int64_t> extents(input_lengths.begin(), input_lengths.end());
  extents.insert(extents.end(), target_lengths.begin(), target_lengths.end());
  for (int64_t sequence = 0, start = 0; sequence < batch; ++sequence) {
    extents.push_back(start);
    start += joined ? target_lengths[sequence] : targets.sizes()[1];
  }
  const c10::Device device = log_probs.device();
  problem.extents = on_device(extents, device, kLong);
  problem.targets = at::detail::to_contiguous(targets.to(device, kLong));
  problem.log_probs = log_probs.strides()[2] == 1 ? log_probs : at::detail::to_contiguous(log_probs);
  return problem;
}

DimVector numbers_of(const Tensor& lengths, const char* name) {
  TORCH_CHECK(is_integral_type(lengths.dtype(), false), name, " must be integral");
  const Tensor host = at::detail::to_contiguous(lengths.to(kCPU, kLong));
  const int64_t* first = host.data_ptr<int64_t>();
  return {first, first + host.numel()};
}

}  // namespace

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                                     IntArrayRef target_lengths, int64_t blank, bool) {
  const Problem problem = problem_of(log_probs, targets, input_lengths, target_lengths, blank);
  const int64_t batch = log_probs.sizes()[1];
  const Tensor losses = at::detail::empty({batch}, log_probs.dtype(), log_probs.device());
  const Tensor log_alpha = at::detail::empty({batch, log_probs.sizes()[0], 2 * problem.longest + 1}, log_probs.dtype(),
                                             log_probs.device());
  run_kernel(ctc_loss_kernels, log_probs.device(), losses, log_alpha, problem.log_probs, problem.targets,
             problem.extents, blank);
  return {losses, log_alpha};
}

Tensor _ctc_loss_backward(const Tensor& grad_output, const Tensor& log_probs, const Tensor& targets,
                          IntArrayRef input_lengths, IntArrayRef target_lengths, const Tensor& neg_log_likelihood,
                          const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  const Problem problem = problem_of(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor grad_input = at::detail::empty(log_probs.sizes(), log_probs.dtype(), log_probs.device());
  run_kernel(ctc_loss_backward_kernels, log_probs.device(), grad_input, at::detail::to_contiguous(grad_output),
             neg_log_likelihood, log_alpha, problem.log_probs, problem.targets, problem.extents, blank, zero_infinity);
  return grad_input;
}

Tensor ctc_loss_of_lengths(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                           IntArrayRef target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  Tensor losses = std::get<0>(at::_ctc_loss(batched ? log_probs : at::unsqueeze(log_probs, 1), targets, input_lengths,
                                            target_lengths, blank, zero_infinity));
  if (zero_infinity) losses = losses.masked_fill(at::isposinf(losses), Scalar(0));
  if (reduction == 1) {
    std::vector<int64_t> divisors;
    for (const int64_t length : target_lengths) divisors.push_back(std::max<int64_t>(length, 1));
    return at::mean(at::div(losses, on_device(divisors, losses.device(), losses.dtype())));
  }
  if (reduction == 2) return at::sum(losses);
  return batched ? losses : at::squeeze(losses, 0);
}

Tensor ctc_loss_of_tensors(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                           const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  return at::ctc_loss(log_probs, targets, numbers_of(input_lengths, "input_lengths"),
                      numbers_of(target_lengths, "target_lengths"), blank, reduction, zero_infinity);
}

}  // namespace at::native
