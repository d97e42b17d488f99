// NumPy in and out without copies, through Python's buffer protocol only: NumPy is neither needed to build nor to
// import torch, and every version of it speaks the protocol.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace torch::python {

namespace {

// Exports one CPU tensor's memory as a buffer: what NumPy's array holds on to.
struct ViewObject {
  PyObject_HEAD
  at::Tensor tensor;
  Py_ssize_t shape[64];
  Py_ssize_t strides[64];
};

void view_dealloc(PyObject* self) {
  reinterpret_cast<ViewObject*>(self)->tensor.~Tensor();
  Py_TYPE(self)->tp_free(self);
}

int view_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  auto* view = reinterpret_cast<ViewObject*>(self);
  const at::Tensor& tensor = view->tensor;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.is_contiguous()) {
    PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
    return -1;
  }
  static char empty = 0;
  buffer->buf = tensor.data_ptr() ? tensor.data_ptr() : &empty;
  buffer->len = static_cast<Py_ssize_t>(tensor.nbytes());
  buffer->itemsize = static_cast<Py_ssize_t>(tensor.element_size());
  buffer->readonly = 0;
  buffer->ndim = static_cast<int>(tensor.dim());
  buffer->format = flags & PyBUF_FORMAT ? const_cast<char*>(buffer_format(tensor.dtype())) : nullptr;
  buffer->shape = flags & PyBUF_ND ? view->shape : nullptr;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? view->strides : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = nullptr;
  buffer->obj = self;
  Py_INCREF(self);
  return 0;
}

PyTypeObject make_view_type() {
  static PyBufferProcs procedures = {view_buffer, nullptr};
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "torch._C._TensorMemory";
  type.tp_basicsize = sizeof(ViewObject);
  type.tp_dealloc = view_dealloc;
  type.tp_as_buffer = &procedures;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "The memory of a CPU tensor as a buffer.";
  return type;
}

PyTypeObject ViewType = make_view_type();

// The dtype of a buffer's format, or Undefined. `size` tells types apart that C leaves open, such as 'l'.
c10::ScalarType dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return at::kByte;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (!*format || (format[1] && *format != 'Z')) return c10::ScalarType::Undefined;
  if (*format == 'c') return at::kByte;
  // Letters of one kind are told apart by size; NumPy writes complex numbers as Zf and Zd.
  const auto kind_of = [](char letter) {
    return std::strchr("bhilqn", letter) ? 'i' : std::strchr("BHILQN", letter) ? 'u' : letter;
  };
  for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
    if (*facts.buffer_format && kind_of(*facts.buffer_format) == kind_of(*format) && facts.size == size) {
      return facts.type;
    }
  }
  return c10::ScalarType::Undefined;
}

// "float64, float32, ..., uint8, and bool": the dtypes that NumPy has too, the largest of each kind first (complex
// numbers as PyTorch's message has them).
std::string supported_names() {
  std::string names;
  const auto add = [&](auto&& wanted) {
    for (int size = 8; size > 0; size /= 2) {
      for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
        if (facts.size == size && *facts.buffer_format && wanted(facts)) names += std::string(facts.name) + ", ";
      }
    }
  };
  add([](const c10::TypeFacts& facts) { return facts.kind == c10::TypeKind::Floating; });
  for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
    if (facts.kind == c10::TypeKind::Complex) names += std::string(facts.name) + ", ";
  }
  add([](const c10::TypeFacts& facts) { return facts.kind == c10::TypeKind::Integral && facts.is_signed; });
  add([](const c10::TypeFacts& facts) { return facts.kind == c10::TypeKind::Integral && !facts.is_signed; });
  return names + "and bool";
}

struct HeldBuffer {
  Py_buffer buffer;
};

void release_buffer(void* context) {
  if (!Py_IsInitialized()) return;  // the interpreter has gone and the memory with it
  AcquireGil gil;
  auto* held = static_cast<HeldBuffer*>(context);
  PyBuffer_Release(&held->buffer);
  delete held;
}

std::string dtype_text(PyObject* object) {
  const Object dtype = Object::steal(PyObject_GetAttrString(object, "dtype"));
  const Object type = Object::steal(dtype ? PyObject_GetAttrString(dtype.get(), "type") : nullptr);
  const Object name = Object::steal(type ? PyObject_GetAttrString(type.get(), "__name__") : nullptr);
  const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  PyErr_Clear();
  return text ? std::string("numpy.") + text : "unknown";
}

// numpy.asarray, looked up once.
PyObject* asarray() {
  static PyObject* function = nullptr;
  if (!function) {
    const Object numpy = Object::steal(PyImport_ImportModule("numpy"));
    if (!numpy) {
      PyErr_Clear();
      raise(PyExc_RuntimeError, "Numpy is not available: Tensor.numpy() needs the package numpy to be installed");
    }
    function = checked(PyObject_GetAttrString(numpy.get(), "asarray"));
  }
  return function;
}

}  // namespace

const char* buffer_format(c10::ScalarType dtype) {
  const char* format = c10::type_facts(dtype).buffer_format;
  if (*format) return format;
  raise(PyExc_TypeError, std::string("Got unsupported ScalarType ") + c10::to_string(dtype));
}

bool is_numpy_array(PyObject* object) {
  if (std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0) return true;
  PyObject* bases = Py_TYPE(object)->tp_mro;
  if (!bases) return false;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(bases); ++index) {
    const auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, index));
    if (std::strcmp(base->tp_name, "numpy.ndarray") == 0) return true;
  }
  return false;
}

at::Tensor tensor_from_buffer(PyObject* object, bool warn_read_only) {
  auto held = std::make_unique<HeldBuffer>();
  const bool is_array = is_numpy_array(object);
  const auto unsupported = [&] {
    return "can't convert np.ndarray of type " + dtype_text(object) +
           ". The only supported types are: " + supported_names() + ".";
  };
  if (PyObject_GetBuffer(object, &held->buffer, PyBUF_FULL_RO) < 0) {
    if (!is_array) throw PythonError();
    PyErr_Clear();
    raise(PyExc_TypeError, unsupported());
  }
  // From here on the buffer must be released on every way out.
  const Py_buffer& buffer = held->buffer;
  struct Releaser {
    HeldBuffer* held;
    ~Releaser() {
      if (held) PyBuffer_Release(&held->buffer);
    }
  } releaser{held.get()};
  const c10::ScalarType dtype = dtype_of_format(buffer.format, buffer.itemsize);
  if (buffer.format && *buffer.format == '>') {
    raise(PyExc_ValueError, "given numpy array has byte order different from the native byte order. Conversion between "
                            "byte orders is currently not supported.");
  }
  if (dtype == c10::ScalarType::Undefined || static_cast<Py_ssize_t>(c10::element_size(dtype)) != buffer.itemsize) {
    raise(PyExc_TypeError, is_array ? unsupported()
                                    : std::string("a buffer with elements of format '") +
                                          (buffer.format ? buffer.format : "B") + "' has no matching dtype");
  }
  c10::DimVector sizes;
  c10::DimVector strides;
  for (int dim = 0; dim < buffer.ndim; ++dim) {
    const Py_ssize_t stride = buffer.strides ? buffer.strides[dim] : 0;
    if (stride < 0) {
      raise(
          PyExc_ValueError,
          "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
          "currently supported. (You can probably work around this by making a copy of your array with array.copy().)");
    }
    if (stride % buffer.itemsize != 0) {
      raise(PyExc_ValueError, "given numpy array strides not a multiple of the element byte size. Copy the numpy array "
                              "to reallocate the memory.");
    }
    sizes.push_back(buffer.shape[dim]);
    strides.push_back(stride / buffer.itemsize);
  }
  if (buffer.readonly && warn_read_only &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This "
                   "means writing to this tensor will result in undefined behavior. You may want to copy the array to "
                   "protect its data or make it writable before converting it to a tensor.",
                   1) < 0) {
    throw PythonError();
  }
  int64_t span = buffer.itemsize;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0) span = 0;
    if (span) span += (sizes[dim] - 1) * strides[dim] * buffer.itemsize;
  }
  void* data = buffer.buf;
  releaser.held = nullptr;
  c10::Storage storage(c10::DataPtr(data, held.release(), release_buffer, at::kCPU), static_cast<size_t>(span));
  auto impl = c10::make_intrusive<at::TensorImpl>(std::move(storage), dtype, at::Device(at::kCPU));
  impl->set_sizes_and_strides(sizes, strides, 0);
  return at::Tensor(std::move(impl));
}

PyObject* tensor_to_numpy(const at::Tensor& tensor, bool force) {
  if (tensor.impl()->sparse()) {
    raise(PyExc_TypeError, c10::detail::concatenate("can't convert ", tensor.layout(),
                                                    " layout tensor to numpy. Use Tensor.to_dense() first."));
  }
  at::Tensor local = tensor;
  if (force) {
    local = tensor.detach().cpu();
  } else if (tensor.requires_grad() && c10::GradMode::is_enabled()) {
    raise(PyExc_RuntimeError,
          "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  } else if (!tensor.is_cpu()) {
    raise(PyExc_TypeError,
          "can't convert " + tensor.device().str() +
              " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  }
  Object memory = Object::steal(checked(ViewType.tp_alloc(&ViewType, 0)));
  auto* view = reinterpret_cast<ViewObject*>(memory.get());
  new (&view->tensor) at::Tensor(local);
  TORCH_CHECK(local.dim() <= 64, "numpy(): NumPy arrays have at most 64 dimensions");
  for (int64_t dim = 0; dim < local.dim(); ++dim) {
    view->shape[dim] = static_cast<Py_ssize_t>(local.sizes()[dim]);
    view->strides[dim] = static_cast<Py_ssize_t>(local.strides()[dim]) * static_cast<Py_ssize_t>(local.element_size());
  }
  return checked(PyObject_CallOneArg(asarray(), memory.get()));
}

void register_numpy(PyObject* module) { add_type(module, ViewType, "_TensorMemory"); }

}  // namespace torch::python
