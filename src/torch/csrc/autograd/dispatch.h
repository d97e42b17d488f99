#pragma once
// `__torch_dispatch__`: below autograd, a mode or the class of an argument may answer for an operator.
//
// Every function of namespace at asks in_use() between its gradient and its native function: one load, unless a mode is
// entered or a tensor of such a class is alive. Then its arguments are described by pointers and handed to
// Python (utils/python_dispatch.cpp), which says whether somebody has answered.
//
// A wrapper is a tensor without memory of its own, whose class answers for it. Its TensorImpl has SparseParts of the
// strided layout, which are empty: whoever reaches for its memory ends in the error that sparse tensors give.

#include <aten/Generator.h>
#include <aten/OptionalIntArrayRef.h>
#include <aten/Tensor.h>
#include <c10/macros/Export.h>

#include <atomic>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace torch::autograd::dispatch {

// One argument of a call: which type is pointed to. It lives as long as the call does.
struct Argument {
  using Value = const void*;
  enum class Kind : uint8_t {
    Tensor, TensorList, Scalar, OptionalScalar, Int, OptionalInt, IntList, OptionalIntList, Float, OptionalFloat,
    FloatList, OptionalFloatList, Bool, OptionalBool, String, OptionalString, DType, OptionalDType, Layout,
    OptionalLayout, Device, OptionalDevice, MemoryFormat, OptionalMemoryFormat, Generator, Options,
  };

  Argument(const at::Tensor& value) : kind(Kind::Tensor), value(&value) {}
  Argument(const at::TensorList& value) : kind(Kind::TensorList), value(&value) {}
  Argument(const c10::Scalar& value) : kind(Kind::Scalar), value(&value) {}
  Argument(const std::optional<c10::Scalar>& value) : kind(Kind::OptionalScalar), value(&value) {}
  Argument(const int64_t& value) : kind(Kind::Int), value(&value) {}
  Argument(const std::optional<int64_t>& value) : kind(Kind::OptionalInt), value(&value) {}
  Argument(const at::IntArrayRef& value) : kind(Kind::IntList), value(&value) {}
  Argument(const at::OptionalIntArrayRef& value) : kind(Kind::OptionalIntList), value(&value) {}
  Argument(const double& value) : kind(Kind::Float), value(&value) {}
  Argument(const std::optional<double>& value) : kind(Kind::OptionalFloat), value(&value) {}
  Argument(const at::ArrayRef<double>& value) : kind(Kind::FloatList), value(&value) {}
  Argument(const std::optional<at::ArrayRef<double>>& value) : kind(Kind::OptionalFloatList), value(&value) {}
  Argument(const bool& value) : kind(Kind::Bool), value(&value) {}
  Argument(const std::optional<bool>& value) : kind(Kind::OptionalBool), value(&value) {}
  Argument(const std::string_view& value) : kind(Kind::String), value(&value) {}
  Argument(const std::optional<std::string_view>& value) : kind(Kind::OptionalString), value(&value) {}
  Argument(const c10::ScalarType& value) : kind(Kind::DType), value(&value) {}
  Argument(const std::optional<c10::ScalarType>& value) : kind(Kind::OptionalDType), value(&value) {}
  Argument(const c10::Layout& value) : kind(Kind::Layout), value(&value) {}
  Argument(const std::optional<c10::Layout>& value) : kind(Kind::OptionalLayout), value(&value) {}
  Argument(const c10::Device& value) : kind(Kind::Device), value(&value) {}
  Argument(const std::optional<c10::Device>& value) : kind(Kind::OptionalDevice), value(&value) {}
  Argument(const c10::MemoryFormat& value) : kind(Kind::MemoryFormat), value(&value) {}
  Argument(const std::optional<c10::MemoryFormat>& value) : kind(Kind::OptionalMemoryFormat), value(&value) {}
  Argument(const at::Generator& value) : kind(Kind::Generator), value(&value) {}
  Argument(const at::TensorOptions& value) : kind(Kind::Options), value(&value) {}

  template <typename T>
  const T& as() const { return *static_cast<const T*>(value); }

  Kind kind;
  Value value;
};

// Where one result goes.
struct Result {
  enum class Kind : uint8_t { Tensor, TensorList, Scalar, Int, Float, Bool, DType };

  Result(at::Tensor& value) : kind(Kind::Tensor), value(&value) {}
  Result(std::vector<at::Tensor>& value) : kind(Kind::TensorList), value(&value) {}
  Result(c10::Scalar& value) : kind(Kind::Scalar), value(&value) {}
  Result(int64_t& value) : kind(Kind::Int), value(&value) {}
  Result(double& value) : kind(Kind::Float), value(&value) {}
  Result(bool& value) : kind(Kind::Bool), value(&value) {}
  Result(c10::ScalarType& value) : kind(Kind::DType), value(&value) {}

  template <typename T>
  T& as() const { return *static_cast<T*>(value); }

  Kind kind;
  void* value;
};

using Arguments = at::ArrayRef<Argument>;
using Results = at::ArrayRef<Result>;

namespace detail {
TORCH_API extern std::atomic<int64_t> users;
}
// Whether somebody may answer: while there are modes, or tensors of a class that answers.
inline bool in_use() { return detail::users.load(std::memory_order_relaxed) != 0; }
// A mode or such a tensor comes (1) or goes (-1).
TORCH_API void count_user(int change);

// Asks for `name` ("add.Tensor"): whether somebody has answered, in `results`.
TORCH_API bool ask(const char* name, std::initializer_list<Argument> arguments, std::initializer_list<Result> results);
// The same for one that writes into `written`, whose versions change.
TORCH_API bool ask_to_write(const char* name, std::initializer_list<Argument> arguments,
                            std::initializer_list<const at::Tensor*> written);

// What answers; libtorch_python sets it. It is called by every thread, with or without the GIL.
using Handler = bool (*)(const char* name, Arguments arguments, Results results);
TORCH_API void set_handler(Handler handler);

// Whether a tensor has no memory of its own.
TORCH_API bool is_wrapper(const at::Tensor& tensor);
// A new one; its Python object is yet to come.
TORCH_API at::Tensor make_wrapper(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset,
                                  c10::ScalarType dtype, c10::Device device);

// The same memory without history, as shallow_copy() gives it; where dispatch is in use it is asked for `detach`.
TORCH_API at::Tensor detached(const at::Tensor& tensor, bool share_version);

}  // namespace torch::autograd::dispatch
