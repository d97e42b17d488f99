#pragma once
// From a Python call to typed C++ arguments, by tables that torchgen writes.
//
// A Callable is one Python name with its overloads in the order of native_functions.yaml; the first overload whose
// arguments fit is called. Fitting looks at types only and allocates nothing; conversion happens in the overload's
// `call`, through Arguments. Only when nothing fits does explain_mismatch()
// go over the overloads again for the message.

#include <torch/csrc/utils/object.h>

#include <aten/Generator.h>
#include <aten/Tensor.h>
#include <c10/util/InlineVector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::python {

enum class Kind : uint8_t {
  Tensor,
  TensorList,          // tuple or list of tensors
  OptionalTensorList,  // the same with None in it
  Int,
  IntList,
  FloatList,
  Float,
  Bool,
  Scalar,
  String,
  DType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Any,  // whatever it is; hand-written functions look at it themselves
};

// What a parameter allows, as bits.
constexpr uint8_t kRequired = 0;
constexpr uint8_t kHasDefault = 1;
constexpr uint8_t kKeywordOnly = 2;
constexpr uint8_t kNullable = 4;      // None is a value
constexpr uint8_t kTakesNumbers = 8;  // a Tensor parameter that a number fits, wrapped as a 0-dim tensor
constexpr uint8_t kNumbersAlone = 16;  // even where none of the others is a tensor

struct Parameter {
  const char* name;
  Kind kind;
  uint8_t flags = kRequired;
  uint8_t list_size = 0;           // int[N]: a lone int stands for the list
  const char* default_text = "";   // as signatures print it
  PyObject* interned = nullptr;    // the name as an interned str, made on first use

  bool has_default() const { return flags & kHasDefault; }
  bool keyword_only() const { return flags & kKeywordOnly; }
  bool nullable() const { return flags & kNullable; }
  bool takes_numbers() const { return flags & kTakesNumbers; }
  bool numbers_alone() const { return flags & kNumbersAlone; }
};

class Arguments;

struct Overload {
  Parameter* parameters;
  uint8_t count;
  uint8_t positional;   // how many may be given by position
  bool as_function;
  bool as_method;
  PyObject* (*call)(Arguments&);
};

struct Callable {
  const char* name;
  const Overload* overloads;
  size_t count;
};

constexpr size_t kMaxParameters = 16;

// The arguments of the overload that fits, by its parameter's index. Borrowed from the caller for the call's time.
class Arguments {
 public:
  // Whether it was given at all (None counts as given).
  bool given(size_t index) const { return values_[index] != nullptr; }
  // Whether it was given and is not None.
  bool has(size_t index) const { return values_[index] && values_[index] != Py_None; }
  PyObject* object(size_t index) const { return values_[index]; }

  // Undefined for None; a number becomes a wrapped 0-dim tensor.
  const at::Tensor& tensor(size_t index);
  at::Tensor& mutable_tensor(size_t index);
  std::vector<at::Tensor> tensor_list(size_t index) const;
  int64_t integer(size_t index) const;
  int64_t integer(size_t index, int64_t otherwise) const { return given(index) ? integer(index) : otherwise; }
  std::optional<int64_t> optional_integer(size_t index) const;
  c10::DimVector integers(size_t index) const;
  c10::DimVector integers(size_t index, std::initializer_list<int64_t> otherwise) const {
    return has(index) ? integers(index) : c10::DimVector(otherwise);
  }
  std::optional<c10::DimVector> optional_integers(size_t index) const;
  std::vector<double> numbers(size_t index) const;
  std::optional<std::vector<double>> optional_numbers(size_t index) const;
  // A tuple of `count` tensors to write to.
  std::vector<at::Tensor> out_tensors(size_t index, size_t count) const;
  double number(size_t index) const;
  double number(size_t index, double otherwise) const { return given(index) ? number(index) : otherwise; }
  std::optional<double> optional_number(size_t index) const;
  bool boolean(size_t index) const;
  bool boolean(size_t index, bool otherwise) const { return given(index) ? boolean(index) : otherwise; }
  std::optional<bool> optional_boolean(size_t index) const;
  c10::Scalar scalar(size_t index) const;
  c10::Scalar scalar(size_t index, c10::Scalar otherwise) const { return given(index) ? scalar(index) : otherwise; }
  std::optional<c10::Scalar> optional_scalar(size_t index) const;
  std::string_view string(size_t index) const;
  std::string_view string(size_t index, std::string_view otherwise) const {
    return given(index) ? string(index) : otherwise;
  }
  std::optional<std::string_view> optional_string(size_t index) const;
  c10::ScalarType dtype(size_t index) const;
  std::optional<c10::ScalarType> optional_dtype(size_t index) const;
  c10::Device device(size_t index) const;
  c10::Layout layout(size_t index) const;
  std::optional<c10::Layout> optional_layout(size_t index) const;
  std::optional<c10::Device> optional_device(size_t index) const;
  at::Generator generator(size_t index) const;
  c10::MemoryFormat memory_format(size_t index, c10::MemoryFormat otherwise) const {
    return optional_memory_format(index).value_or(otherwise);
  }
  std::optional<c10::MemoryFormat> optional_memory_format(size_t index) const;
  // The default device that the user set, if the overload makes a tensor like no other one.
  std::optional<c10::Device> device_for_new() const;
  // The four parameters dtype, layout, device, pin_memory that begin at `first`.
  at::TensorOptions options(size_t first, std::optional<c10::ScalarType> dtype = std::nullopt) const;

  // Whether the work is worth letting go of the GIL: some tensor of it is large or not on the CPU, or there is none
  // among the parameters and the sizes are unknown.
  bool is_heavy() const;

 private:
  friend bool bind(const Overload&, Arguments&, PyObject* self, PyObject* const*, Py_ssize_t, PyObject*);
  const Overload* overload_ = nullptr;
  PyObject* values_[kMaxParameters];
  // view(2, 3): the ints follow one another in the call, and values_[varargs_index_] is the first of them.
  int varargs_index_ = -1;
  PyObject* const* varargs_ = nullptr;
  Py_ssize_t varargs_count_ = 0;
  std::array<at::Tensor, 4> wrapped_;
  size_t wrapped_count_ = 0;
};

// Fits the call to one overload. `self` is null for functions. Sets no Python error when it does not fit.
bool bind(const Overload& overload, Arguments& arguments, PyObject* self, PyObject* const* values, Py_ssize_t count,
          PyObject* keyword_names);

// Calls the first overload that fits, or what a class or a mode has in its place (utils/overrides.h); or sets
// TypeError. Never throws.
PyObject* dispatch_method(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                          PyObject* keyword_names) noexcept;
PyObject* dispatch_function(const Callable& callable, PyObject* module, PyObject* const* values, Py_ssize_t count,
                            PyObject* keyword_names) noexcept;

// The TypeError's text for a call that fits no overload.
std::string explain_mismatch(const Callable& callable, PyObject* self, PyObject* const* values, Py_ssize_t count,
                             PyObject* keyword_names);
// "(Tensor input, Tensor other, *, Number alpha = 1)".
std::string signature_text(const Overload& overload, bool with_self);
bool value_fits(const Parameter& parameter, PyObject* value);
// The list that may be written without brackets, view(2, 3): the only positional parameter; -1 when there is none.
int varargs_parameter(const Overload& overload, bool is_method);
// The parameter that a keyword means, numpy's aliases (axis, keepdims, x1) included; -1 when there is none.
int find_parameter(const Overload& overload, PyObject* keyword);
std::string keyword_text(PyObject* keyword);

// "name(input, *, alpha=1)\n--\n\n", which inspect.signature reads.
#define TORCH_SIGNATURE(text) text "\n--\n\n"

// Python functions made of tables: one instance of each per Callable.
template <const Callable& callable>
PyObject* call_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  return dispatch_method(callable, self, values, count, keyword_names);
}
template <const Callable& callable>
PyObject* call_function(PyObject* module, PyObject* const* values, Py_ssize_t count, PyObject* keyword_names) {
  return dispatch_function(callable, module, values, count, keyword_names);
}

// ---- single values, used by hand-written functions too

bool is_integer(PyObject* object);  // int or numpy integer or 0-dim integral tensor; not bool
bool is_number(PyObject* object);   // int, float, bool, numpy scalar, 0-dim tensor
bool is_plain_number(PyObject* object);  // the same without tensors
int64_t to_integer(PyObject* object);
double to_double(PyObject* object);
c10::complex<double> to_complex(PyObject* object);
c10::Scalar to_scalar(PyObject* object);
// A tuple or list of ints, or one int; throws TypeError naming `what`.
c10::DimVector to_integers(PyObject* object, const char* what);
bool is_dtype_like(PyObject* object);   // torch.dtype, or Python's float, int, bool
c10::ScalarType to_dtype(PyObject* object);
bool is_device_like(PyObject* object);  // torch.device, str, int
c10::Device to_device(PyObject* object);
PyObject* from_scalar(const c10::Scalar& scalar);

}  // namespace torch::python
