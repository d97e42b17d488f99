#pragma once
// Calling a kernel that takes tensors (kernels that take a TensorIterator are called by its run()).

#include <aten/EmptyTensor.h>
#include <c10/core/Backend.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace at::native {

// Calls the kernel of `device`'s backend with `device` as the current one.
template <typename Table, typename... Args>
void run_kernel(const Table& kernels, c10::Device device, Args&&... args) {
  const c10::DeviceGuard guard(device);
  kernels(device.type(), std::forward<Args>(args)...);
}

namespace detail {

template <typename T>
bool is_reduced(const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return argument.defined() && c10::is_reduced_floating_type(argument.dtype());
  } else {
    return false;
  }
}

template <typename T>
decltype(auto) in_float32(const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return is_reduced(argument) ? at::detail::to_dtype(argument, kFloat) : argument;
  } else {
    return (argument);
  }
}

template <typename Originals, typename StandIns, size_t... Index>
void write_back(const Originals& originals, const StandIns& stand_ins, std::index_sequence<Index...>) {
  const auto write = [](const Tensor& original, const Tensor& stand_in) {
    if (is_reduced(original)) at::detail::copy_into(original, stand_in);
  };
  (write(std::get<Index>(originals), std::get<Index>(stand_ins)), ...);
}

}  // namespace detail

// The same for a kernel that computes in float and double only: float16 and bfloat16 tensors are given to it as
// float32, and what it wrote into the first `Written` arguments is rounded back.
template <size_t Written = 1, typename Table, typename... Args>
void run_kernel_in_float32(const Table& kernels, c10::Device device, const Args&... args) {
  if (!(detail::is_reduced(args) || ...)) return run_kernel(kernels, device, args...);
  auto stand_ins = std::tuple<std::decay_t<decltype(detail::in_float32(args))>...>(detail::in_float32(args)...);
  std::apply([&](const auto&... given) { run_kernel(kernels, device, given...); }, stand_ins);
  detail::write_back(std::tie(args...), stand_ins, std::make_index_sequence<Written>());
}

}  // namespace at::native
