#include <torch/csrc/utils/autocast.h>

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace torch::python {

int active_autocasts = 0;

namespace {

enum class Policy : uint8_t {
  Keep,
  Lower,   // in the block's dtype
  Single,  // in float32
  Widest,  // all in the widest dtype among them
};

// PyTorch's lists for the CPU, by the names that the operators have in Python.
const std::unordered_map<std::string_view, Policy>& policies() {
  static const auto* table = [] {
    auto* made = new std::unordered_map<std::string_view, Policy>();
    for (const char* name : {"conv1d",
                             "conv2d",
                             "conv3d",
                             "conv_transpose1d",
                             "conv_transpose2d",
                             "conv_transpose3d",
                             "conv_tbc",
                             "convolution",
                             "bmm",
                             "mm",
                             "baddbmm",
                             "addmm",
                             "addbmm",
                             "linear",
                             "matmul",
                             "linalg_multi_dot",
                             "chain_matmul",
                             "scaled_dot_product_attention",
                             "lstm",
                             "rnn_tanh",
                             "rnn_relu",
                             "rnn_tanh_cell",
                             "rnn_relu_cell",
                             "einsum",
                             "tensordot",
                             "inner",
                             "matrix_power",
                             "linalg_matrix_power",
                             "prelu"}) {
      made->emplace(name, Policy::Lower);
    }
    for (const char* name : {"avg_pool3d",
                             "binary_cross_entropy",
                             "binary_cross_entropy_with_logits",
                             "grid_sample",
                             "grid_sampler",
                             "polar",
                             "prod",
                             "quantile",
                             "nanquantile",
                             "stft",
                             "cdist",
                             "trace",
                             "view_as_complex",
                             "cholesky",
                             "cholesky_inverse",
                             "cholesky_solve",
                             "inverse",
                             "lu_solve",
                             "orgqr",
                             "ormqr",
                             "pinverse",
                             "max_pool3d",
                             "max_unpool2d",
                             "max_unpool3d",
                             "adaptive_avg_pool3d",
                             "reflection_pad1d",
                             "reflection_pad2d",
                             "replication_pad1d",
                             "replication_pad2d",
                             "replication_pad3d",
                             "mse_loss",
                             "cosine_embedding_loss",
                             "nll_loss",
                             "hinge_embedding_loss",
                             "poisson_nll_loss",
                             "smooth_l1_loss",
                             "cross_entropy",
                             "cross_entropy_loss",
                             "l1_loss",
                             "huber_loss",
                             "margin_ranking_loss",
                             "soft_margin_loss",
                             "triplet_margin_loss",
                             "multi_margin_loss",
                             "ctc_loss",
                             "kl_div",
                             "multilabel_margin_loss",
                             "fft_fft",
                             "fft_ifft",
                             "fft_fft2",
                             "fft_ifft2",
                             "fft_fftn",
                             "fft_ifftn",
                             "fft_rfft",
                             "fft_irfft",
                             "fft_rfft2",
                             "fft_irfft2",
                             "fft_rfftn",
                             "fft_irfftn",
                             "fft_hfft",
                             "fft_ihfft",
                             "linalg_cond",
                             "linalg_matrix_rank",
                             "linalg_solve",
                             "linalg_cholesky",
                             "linalg_svdvals",
                             "linalg_eigvals",
                             "linalg_eigvalsh",
                             "linalg_inv",
                             "linalg_householder_product",
                             "linalg_tensorinv",
                             "linalg_tensorsolve",
                             "fake_quantize_per_tensor_affine",
                             "geqrf",
                             "_lu_with_info",
                             "qr",
                             "svd",
                             "triangular_solve",
                             "fractional_max_pool2d",
                             "fractional_max_pool3d",
                             "adaptive_max_pool3d",
                             "multilabel_margin_loss_forward",
                             "linalg_qr",
                             "linalg_cholesky_ex",
                             "linalg_svd",
                             "linalg_eig",
                             "linalg_eigh",
                             "linalg_lstsq",
                             "linalg_inv_ex",
                             "gru",
                             "gru_cell",
                             "lstm_cell"}) {
      made->emplace(name, Policy::Single);
    }
    for (const char* name : {"stack", "cat", "concat", "concatenate", "index_copy"})
      made->emplace(name, Policy::Widest);
    return made;
  }();
  return *table;
}

struct State {
  bool enabled = false;
  c10::ScalarType dtype = at::kBFloat16;
  bool keeps_weights = true;
  int depth = 0;
  // The converted forms of parameters, until the outermost block ends. The original is kept, so that no other tensor
  // can come to lie where it lay.
  std::unordered_map<const at::TensorImpl*, std::pair<at::Tensor, at::Tensor>> weights;
};

State& state() {
  thread_local State* made = new State();  // never deleted: a thread may end when Python has
  return *made;
}

bool is_convertible(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.is_floating_point() && tensor.dtype() != at::kDouble;
}

at::Tensor convert(const at::Tensor& tensor, c10::ScalarType dtype) {
  if (!is_convertible(tensor) || tensor.dtype() == dtype) return tensor;
  State& current = state();
  const bool is_weight = current.keeps_weights && dtype == current.dtype && tensor.dtype() == at::kFloat &&
                         tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view();
  if (!is_weight) return tensor.to(dtype);
  auto found = current.weights.find(tensor.impl());
  if (found != current.weights.end()) return found->second.second;
  at::Tensor made = tensor.to(dtype);
  current.weights.emplace(tensor.impl(), std::make_pair(tensor, made));
  return made;
}

// The widest of float32 and the block's dtype among the tensors of the arguments.
void widen(PyObject* value, c10::ScalarType& widest) {
  if (is_tensor(value)) {
    const at::Tensor& tensor = unpack(value);
    if (is_convertible(tensor) && tensor.dtype() == at::kFloat) widest = at::kFloat;
  } else if (PyTuple_Check(value) || PyList_Check(value)) {
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(value); ++index) {
      widen(PySequence_Fast_GET_ITEM(value, index), widest);
    }
  }
}

// The value with its tensors converted; itself if there is nothing to do.
Object converted(PyObject* value, c10::ScalarType dtype) {
  if (is_tensor(value)) {
    const at::Tensor& tensor = unpack(value);
    at::Tensor result = convert(tensor, dtype);
    return result.is_same(tensor) ? Object::borrow(value) : Object::steal(wrap(std::move(result)));
  }
  if (!PyTuple_Check(value) && !PyList_Check(value)) return Object::borrow(value);
  Object list = Object::steal(checked(PySequence_List(value)));
  bool changed = false;
  for (Py_ssize_t index = 0; index < PyList_GET_SIZE(list.get()); ++index) {
    PyObject* item = PyList_GET_ITEM(list.get(), index);
    if (!is_tensor(item)) continue;
    Object made = converted(item, dtype);
    changed = changed || made.get() != item;
    checked(PyList_SetItem(list.get(), index, made.release()));
  }
  return changed ? list : Object::borrow(value);
}

// [h, c] of an LSTM whose h is projected.
bool is_projected_state(PyObject* value) {
  if (!(PyTuple_Check(value) || PyList_Check(value)) || PySequence_Fast_GET_SIZE(value) != 2) return false;
  PyObject* h = PySequence_Fast_GET_ITEM(value, 0);
  PyObject* c = PySequence_Fast_GET_ITEM(value, 1);
  if (!is_tensor(h) || !is_tensor(c) || unpack(h).dim() == 0 || unpack(c).dim() == 0) return false;
  return unpack(h).sizes().back() != unpack(c).sizes().back();
}

}  // namespace

AutocastArguments::AutocastArguments(const char* name, PyObject* self, PyObject* const* values, Py_ssize_t count)
    : self_(self), values_(values) {
  const State& current = state();
  if (!current.enabled) return;
  auto found = policies().find(name);
  if (std::string_view(name) == "pad") {  // of which only some modes are operators of the list
    const auto is_mode = [](PyObject* value) {
      return PyUnicode_Check(value) && (PyUnicode_CompareWithASCIIString(value, "reflect") == 0 ||
                                        PyUnicode_CompareWithASCIIString(value, "replicate") == 0);
    };
    if (std::any_of(values, values + count, is_mode)) found = policies().find("reflection_pad1d");
  }
  PyObject* kept = nullptr;  // an argument that is not converted
  if (std::string_view(name) ==
      "lstm") {  // PyTorch keeps c in float32 if h is projected, and everything of packed sequences
    PyObject* const* state = std::find_if(values, values + count, is_projected_state);
    if (state != values + count) {
      kept = *state;
    } else if (count > 1 && is_tensor(values[1])) {
      found = policies().find("gru");
    }
  }
  if (found == policies().end()) return;
  c10::ScalarType dtype = found->second == Policy::Single ? at::kFloat : current.dtype;
  if (found->second == Policy::Widest) {
    if (self) widen(self, dtype);
    for (Py_ssize_t index = 0; index < count; ++index) widen(values[index], dtype);
  }
  if (self) {
    owners_.push_back(converted(self, dtype));
    self_ = owners_.back().get();
  }
  for (Py_ssize_t index = 0; index < count; ++index) {
    owners_.push_back(values[index] == kept ? Object::borrow(kept) : converted(values[index], dtype));
    replaced_.push_back(owners_.back().get());
  }
  values_ = replaced_.data();
}

namespace {

// _call_in_autocast(function, args, kwargs): by the function's __name__.
PyObject* call_in_autocast(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* function = nullptr;
    PyObject* positional = nullptr;
    PyObject* keywords = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO!O!:_call_in_autocast", &function, &PyTuple_Type, &positional, &PyDict_Type,
                          &keywords)) {
      return nullptr;
    }
    const Object name = Object::steal(checked(PyObject_GetAttrString(function, "__name__")));
    const char* text = PyUnicode_AsUTF8(name.get());
    if (!text) throw PythonError();
    // The named values follow the positional ones, as in a vector call.
    std::vector<PyObject*> values;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(positional); ++index) {
      values.push_back(PyTuple_GET_ITEM(positional, index));
    }
    const Object names = Object::steal(checked(PySequence_Tuple(keywords)));
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names.get()); ++index) {
      values.push_back(PyDict_GetItem(keywords, PyTuple_GET_ITEM(names.get(), index)));
    }
    const AutocastArguments converted(text, nullptr, values.data(), static_cast<Py_ssize_t>(values.size()));
    return PyObject_Vectorcall(function, converted.values(), static_cast<size_t>(PyTuple_GET_SIZE(positional)),
                               PyTuple_GET_SIZE(names.get()) ? names.get() : nullptr);
  });
}

PyObject* is_enabled(PyObject*, PyObject*) { return new_bool(state().enabled); }
PyObject* set_enabled(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const bool wanted = checked(PyObject_IsTrue(value)) == 1;
    active_autocasts += static_cast<int>(wanted) - static_cast<int>(state().enabled);
    state().enabled = wanted;
    return new_none();
  });
}
PyObject* get_dtype(PyObject*, PyObject*) {
  return guarded([] { return new_dtype(state().dtype); });
}
PyObject* set_dtype(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    if (Py_TYPE(value) != &DtypeType) raise(PyExc_TypeError, "expected a torch.dtype, but got " + type_name(value));
    state().dtype = to_dtype(value);
    return new_none();
  });
}
PyObject* is_cache_enabled(PyObject*, PyObject*) { return new_bool(state().keeps_weights); }
PyObject* set_cache_enabled(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    state().keeps_weights = checked(PyObject_IsTrue(value)) == 1;
    return new_none();
  });
}
PyObject* clear_cache(PyObject*, PyObject*) {
  return guarded([] {
    state().weights.clear();
    return new_none();
  });
}
PyObject* increment_nesting(PyObject*, PyObject*) { return PyLong_FromLong(++state().depth); }
PyObject* decrement_nesting(PyObject*, PyObject*) { return PyLong_FromLong(--state().depth); }

}  // namespace

PyMethodDef autocast_functions[] = {
    {"_call_in_autocast", call_in_autocast, METH_VARARGS,
     "_call_in_autocast(function, args, kwargs): the call with arguments converted as for an operator of its name."},
    {"_is_autocast_enabled", is_enabled, METH_NOARGS, "Whether this thread is in an enabled block of autocast."},
    {"_set_autocast_enabled", set_enabled, METH_O, "Sets that."},
    {"_get_autocast_dtype", get_dtype, METH_NOARGS, "The smaller dtype."},
    {"_set_autocast_dtype", set_dtype, METH_O, "Sets it."},
    {"_is_autocast_cache_enabled", is_cache_enabled, METH_NOARGS, "Whether converted parameters are kept."},
    {"_set_autocast_cache_enabled", set_cache_enabled, METH_O, "Sets that."},
    {"_clear_autocast_cache", clear_cache, METH_NOARGS, "Forgets converted parameters."},
    {"_autocast_increment_nesting", increment_nesting, METH_NOARGS, "Enters a block; how many there are."},
    {"_autocast_decrement_nesting", decrement_nesting, METH_NOARGS, "Leaves a block; how many remain."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
