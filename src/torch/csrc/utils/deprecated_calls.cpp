// Calls whose numbers stand before the tensors, as in x.add_(-rate, gradient): PyTorch's old form, which programs still
// have. Runs only after the call has fitted no overload.

#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/deprecated_calls.h>

#include <c10/util/Warning.h>

#include <algorithm>
#include <atomic>

namespace torch::python {

namespace {

enum class Family {
  Scaled,   // add(self, alpha, other)
  Valued,   // addcmul(self, value, tensor1, tensor2)
  Product,  // addmm(beta, self, alpha, mat1, mat2), alpha being optional; of methods without self
};

std::optional<Family> family_of(std::string_view name) {
  if (!name.empty() && name.back() == '_') name.remove_suffix(1);
  if (name == "add" || name == "sub") return Family::Scaled;
  if (name == "addcmul" || name == "addcdiv") return Family::Valued;
  for (const char* each : {"addbmm", "addmm", "addmv", "addr", "baddbmm", "sspaddmm"}) {
    if (name == each) return Family::Product;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ReorderedCall> reorder_deprecated_call(const Callable& callable, bool is_method, PyObject* const* values,
                                                     Py_ssize_t count, PyObject* keyword_names) {
  const std::optional<Family> family = family_of(callable.name);
  if (!family) return std::nullopt;
  // Where numbers stand in the old form, and what they are called in the new one.
  std::vector<std::pair<Py_ssize_t, const char*>> numbers;
  const Py_ssize_t first = is_method ? 0 : 1;
  if (*family == Family::Product) {
    numbers.emplace_back(0, "beta");
    const Py_ssize_t alpha = first + 1;
    if (count > alpha && is_number(values[alpha])) numbers.emplace_back(alpha, "alpha");
  } else {
    numbers.emplace_back(first, *family == Family::Scaled ? "alpha" : "value");
  }
  for (const auto& [position, name] : numbers) {
    if (position >= count || !is_number(values[position])) return std::nullopt;
  }

  ReorderedCall call;
  for (Py_ssize_t index = 0; index < count; ++index) {
    const bool moves =
        std::any_of(numbers.begin(), numbers.end(), [&](const auto& each) { return each.first == index; });
    if (!moves) call.values.push_back(values[index]);
  }
  call.count = static_cast<Py_ssize_t>(call.values.size());
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  call.keyword_names = Object::steal(checked(PyTuple_New(keywords + static_cast<Py_ssize_t>(numbers.size()))));
  Py_ssize_t place = 0;
  for (; place < keywords; ++place) {
    call.values.push_back(values[count + place]);
    PyObject* name = PyTuple_GET_ITEM(keyword_names, place);
    Py_INCREF(name);
    PyTuple_SET_ITEM(call.keyword_names.get(), place, name);
  }
  for (const auto& [position, name] : numbers) {
    call.values.push_back(values[position]);
    PyTuple_SET_ITEM(call.keyword_names.get(), place++, checked(PyUnicode_InternFromString(name)));
  }
  return call;
}

void warn_of_deprecated_call(const Callable& callable, const ReorderedCall& call) {
  static std::atomic<bool> has_warned{false};  // once a process, as in PyTorch
  if (has_warned.exchange(true)) return;
  PyObject* last = PyTuple_GET_ITEM(call.keyword_names.get(), PyTuple_GET_SIZE(call.keyword_names.get()) - 1);
  TORCH_WARN("This overload of ", callable.name, " is deprecated: its numbers are keywords now, ", callable.name,
             "(..., ", keyword_text(last), "=number)");
}

}  // namespace torch::python
