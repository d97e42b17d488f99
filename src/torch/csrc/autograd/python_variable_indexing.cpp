// x[...] and x[...] = value, after NumPy's rules as PyTorch applies them.
//
// An index is taken apart into steps per dimension. Ints, slices, None and ... become views at once; tensors, lists,
// arrays and bools are kept in a list beside the dimension they stand for, and one at::index / at::index_put_ does them
// together at the end. So without such indices the result is a view, with them a copy.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/overrides.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>

#include <string>
#include <vector>

namespace torch::python {

namespace {

// A sequence used as an index (a list, a range), and whatever NumPy gives us: data, not steps.
bool is_index_data(PyObject* item) {
  if (PyUnicode_Check(item) || PyBytes_Check(item)) return false;
  return PySequence_Check(item) || (PyObject_CheckBuffer(item) && !is_integer(item));
}

// x[[[0, 1], [1, 2]]] is x[[0, 1], [1, 2]]: old programs write a tuple as a list; a list of plain numbers is data.
bool list_is_tuple(PyObject* list) {
  const Py_ssize_t count = PyList_GET_SIZE(list);
  if (count >= 32) return false;
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* item = PyList_GET_ITEM(list, index);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor(item) || PySequence_Check(item))
      return true;
  }
  return false;
}

// Everything but a position: of 0-dim tensors uint8 ones are masks, as bool ones are.
bool is_advanced_tensor(PyObject* item) {
  if (!is_tensor(item)) return false;
  const at::Tensor& tensor = unpack(item);
  return tensor.dim() != 0 || tensor.dtype() == at::kByte || !c10::is_integral_type(tensor.dtype(), false);
}

// How many dimensions of the tensor an index uses up.
int64_t consumed_dimensions(PyObject* item) {
  if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item)) return 0;
  if (is_tensor(item)) {
    const at::Tensor& tensor = unpack(item);
    if (tensor.dtype() == at::kBool || tensor.dtype() == at::kByte) return tensor.dim();
  }
  return 1;
}

// An index's steps, with lists and arrays already made into tensors (held in `owners`).
struct Steps {
  std::vector<PyObject*> items;
  std::vector<Object> owners;
};

Steps read_steps(PyObject* index) {
  Steps steps;
  if (PyTuple_Check(index) || (PyList_Check(index) && list_is_tuple(index))) {
    for (Py_ssize_t position = 0; position < PySequence_Fast_GET_SIZE(index); ++position) {
      steps.items.push_back(PySequence_Fast_ITEMS(index)[position]);
    }
  } else {
    steps.items.push_back(index);
  }
  for (PyObject*& item : steps.items) {
    if (is_tensor(item) || !is_index_data(item)) continue;
    at::Tensor tensor = tensor_from_data(item, std::nullopt, std::nullopt);
    // An empty sequence has no type of its own: it selects nothing.
    if (tensor.numel() == 0 && !PyObject_CheckBuffer(item)) tensor = tensor.to(at::kLong);
    steps.owners.push_back(Object::steal(wrap(std::move(tensor))));
    item = steps.owners.back().get();
  }
  return steps;
}

at::Tensor apply_slice(const at::Tensor& self, int64_t dim, PyObject* slice) {
  Py_ssize_t start;
  Py_ssize_t stop;
  Py_ssize_t step;
  checked(PySlice_Unpack(slice, &start, &stop, &step));
  if (step < 0) raise(PyExc_ValueError, "step must be greater than zero");
  if (start == 0 && step == 1 && stop >= self.size(dim)) return self;
  const auto* parts = reinterpret_cast<PySliceObject*>(slice);
  return at::slice(self, dim, parts->start == Py_None ? std::optional<int64_t>() : start,
                   parts->stop == Py_None ? std::optional<int64_t>() : stop, step);
}

at::Tensor apply_select(const at::Tensor& self, int64_t dim, int64_t real_dim, int64_t index) {
  const int64_t size = self.size(dim);
  if (index < -size || index >= size) {
    raise(PyExc_IndexError, "index " + std::to_string(index) + " is out of bounds for dimension " +
                                std::to_string(real_dim) + " with size " + std::to_string(size));
  }
  return at::select(self, dim, index);
}

void remember(std::vector<at::Tensor>& indices, int64_t dim, at::Tensor tensor) {
  while (static_cast<int64_t>(indices.size()) <= dim) indices.emplace_back();
  indices[static_cast<size_t>(dim)] = std::move(tensor);
}

// Applies every step that is a view to `self`; returns the others in `indices`, one slot per dimension of the result.
at::Tensor apply_views(at::Tensor self, const Steps& steps, std::vector<at::Tensor>& indices) {
  const int64_t dimensions = self.dim();
  int64_t consumed = 0;
  for (PyObject* item : steps.items) consumed += consumed_dimensions(item);
  if (consumed > dimensions) {
    raise(PyExc_IndexError, "too many indices for tensor of dimension " + std::to_string(dimensions));
  }
  int64_t dim = 0;
  int64_t real_dim = 0;
  for (PyObject* item : steps.items) {
    if (is_advanced_tensor(item)) {
      const at::Tensor& tensor = unpack(item);
      remember(indices, dim, tensor);
      // A mask stands for as many dimensions as it has; a 0-dim one, like True, adds its own.
      const bool is_mask = tensor.dtype() == at::kBool || tensor.dtype() == at::kByte;
      if (is_mask && tensor.dim() == 0) self = self.unsqueeze(dim);
      const int64_t covered = is_mask ? tensor.dim() : 1;
      dim += is_mask && tensor.dim() == 0 ? 1 : covered;
      real_dim += covered;
    } else if (PySlice_Check(item)) {
      self = apply_slice(self, dim++, item);
      ++real_dim;
    } else if (item == Py_Ellipsis) {
      dim += dimensions - consumed;
      real_dim += dimensions - consumed;
    } else if (item == Py_None) {
      self = self.unsqueeze(dim++);
    } else if (PyBool_Check(item)) {
      self = self.unsqueeze(dim);
      at::Tensor mask = at::full({1}, item == Py_True, at::TensorOptions(at::kBool));
      remember(indices, dim++, mask);
    } else if (is_integer(item)) {
      self = apply_select(self, dim, real_dim++, to_integer(item));
    } else if (PyUnicode_Check(item)) {
      raise(PyExc_TypeError, "new(): invalid data type 'str'");
    } else {
      raise(PyExc_IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got " +
                type_name(item) + ")");
    }
  }
  // A 0-dim mask was put before a dimension of size one that index() expects it to cover.
  for (at::Tensor& tensor : indices) {
    if (tensor.defined() && (tensor.dtype() == at::kBool || tensor.dtype() == at::kByte) && tensor.dim() == 0)
      tensor = tensor.reshape({1});
    if (tensor.defined() && !tensor.is_same(self) && tensor.device() != self.device() && !tensor.is_cpu()) {
      raise(PyExc_RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor (" +
                                    self.device().str() + ")");
    }
  }
  return self;
}

PyObject* subscript(PyObject* object, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (is_overridden(object, index)) return call_method_override("__getitem__", object, index);
    const at::Tensor& self = unpack(object);
    if (PyLong_CheckExact(index)) {
      if (self.dim() == 0) {
        raise(PyExc_IndexError,
              "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
              "a 0-dim tensor to a number");
      }
      return wrap(apply_select(self, 0, 0, to_integer(index)));
    }
    if (PySlice_Check(index) && self.dim() == 0) {
      raise(PyExc_IndexError, "slice() cannot be applied to a 0-dim tensor.");
    }
    const Steps steps = read_steps(index);
    std::vector<at::Tensor> indices;
    at::Tensor result = apply_views(self, steps, indices);
    if (indices.empty()) return wrap(result.is_same(self) ? at::alias(self) : std::move(result));
    at::Tensor picked;
    {
      const ReleaseGil gil(result.numel() > 4096 || result.is_cuda());
      picked = at::index(result, indices);
    }
    return wrap(std::move(picked));
  });
}

// The value that is assigned, as a tensor of the target's dtype: tensors, numbers and arrays. A list of numbers is more
// often a mistake than meant, and PyTorch refuses it.
at::Tensor value_tensor(PyObject* value, const at::Tensor& self) {
  if (is_tensor(value)) return unpack(value);
  if (is_plain_number(value)) return at::scalar_tensor(to_scalar(value), at::TensorOptions(self.dtype()));
  if (is_numpy_array(value)) return tensor_from_data(value, self.dtype(), std::nullopt);
  raise(PyExc_TypeError,
        "can't assign a " + type_name(value) + " to a torch." + c10::to_string(self.dtype()) + "Tensor");
}

// Drops leading dimensions of size one that the target has not.
at::Tensor drop_leading_ones(at::Tensor source, const at::Tensor& target) {
  while (source.dim() > target.dim() && source.dim() > 0 && source.size(0) == 1) source = at::squeeze(source, 0);
  return source;
}

void assign(at::Tensor& target, PyObject* value) {
  if (is_plain_number(value)) {
    target.fill_(to_scalar(value));
    return;
  }
  const at::Tensor source = drop_leading_ones(value_tensor(value, target), target);
  target.copy_(source.sizes() == target.sizes() ? source : source.expand(target.sizes()));
}

int assign_subscript(PyObject* object, PyObject* index, PyObject* value) {
  return guarded([&]() -> int {
    if (!value) raise(PyExc_TypeError, "Tensor does not support deleting items");
    if (is_overridden(object, index) || is_overridden(value)) {
      const Object answer = Object::steal(call_method_override("__setitem__", object, index, value));
      return 0;
    }
    const at::Tensor& self = unpack(object);
    if (self.dim() == 0 && PyLong_CheckExact(index)) {
      raise(PyExc_IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number");
    }
    const Steps steps = read_steps(index);
    std::vector<at::Tensor> indices;
    at::Tensor target = apply_views(self, steps, indices);
    if (indices.empty()) {
      assign(target, value);
      return 0;
    }
    at::Tensor source = value_tensor(value, target);
    if (source.device() != target.device() && source.dim() == 0) source = source.to(target.device());
    const ReleaseGil gil(target.numel() > 4096 || target.is_cuda());
    target.index_put_(indices, source);
    return 0;
  });
}

Py_ssize_t length(PyObject* object) {
  return guarded([&]() -> Py_ssize_t {
    if (is_overridden(object)) return PyLong_AsSsize_t(Object::steal(call_method_override("__len__", object)).get());
    const at::Tensor& self = unpack(object);
    if (self.dim() == 0) raise(PyExc_TypeError, "len() of a 0-d tensor");
    return static_cast<Py_ssize_t>(self.size(0));
  });
}

PyMappingMethods make_mapping() {
  PyMappingMethods methods = {};
  methods.mp_length = length;
  methods.mp_subscript = subscript;
  methods.mp_ass_subscript = assign_subscript;
  return methods;
}

PySequenceMethods make_sequence() {
  PySequenceMethods methods = {};
  methods.sq_length = length;
  return methods;
}

}  // namespace

PyMappingMethods tensor_mapping_methods = make_mapping();
PySequenceMethods tensor_sequence_methods = make_sequence();

}  // namespace torch::python
