#pragma once
// Tensors from and to C++ values, for tests.

#include <torch/torch.h>

#include <check.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

template <typename T>
at::Tensor make(std::initializer_list<T> values, at::IntArrayRef sizes) {
  at::Tensor result = at::empty(sizes, c10::CppTypeToScalarType<T>::value);
  std::copy(values.begin(), values.end(), result.data_ptr<T>());
  return result;
}
template <typename T>
at::Tensor make(std::initializer_list<T> values) {
  return make<T>(values, {static_cast<int64_t>(values.size())});
}

// In order of the dimensions, whatever the strides are.
template <typename T>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  const T* data = dense.data_ptr<T>();
  return std::vector<T>(data, data + dense.numel());
}

template <typename T>
void check_values(const at::Tensor& tensor, const std::vector<T>& wanted, const char* text, const char* file,
                  int line) {
  const std::vector<T> given = values<T>(tensor);
  if (given == wanted) return;
  std::ostringstream message;
  message << text << " is " << tensor << ", expected";
  for (const T value : wanted) message << ' ' << value;
  check::fail(file, line, message.str());
}
#define CHECK_VALUES(tensor, type, ...) check_values<type>((tensor), __VA_ARGS__, #tensor, __FILE__, __LINE__)
