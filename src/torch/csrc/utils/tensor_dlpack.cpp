// Memory shared with other libraries by DLPack 1.x: capsules of the structs below, whose layout the standard fixes.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/functions.h>
#include <torch/csrc/utils/tensor_new.h>

#include <aten/ATen.h>
#include <c10/core/Extents.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace torch::python {

namespace {

struct DLDevice {
  int32_t type;  // 1: the CPU, 2: CUDA, 3: memory of the CPU that CUDA has pinned
  int32_t index;
};

enum Code : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBFloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8_e4m3fn = 10,
  kFloat8_e4m3fnuz = 11,
  kFloat8_e5m2 = 12,
  kFloat8_e5m2fnuz = 13,
  kFloat8_e8m0fnu = 14,
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: contiguous
  uint64_t byte_offset;
};

struct Managed {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsedName = "used_dltensor";
  DLTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

constexpr uint32_t kMajorVersion = 1;
constexpr uint64_t kIsCopied = 2;

struct ManagedVersioned {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsedName = "used_dltensor_versioned";
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

// What a capsule of ours points to: the struct, and what it needs as long as somebody has it.
template <typename Struct>
struct Exported {
  Struct managed{};
  at::Tensor tensor;
  c10::DimVector sizes;
  c10::DimVector strides;
};

DLDataType type_of(c10::ScalarType dtype) {
  const c10::TypeFacts& facts = c10::type_facts(dtype);
  const auto code = [&] {
    switch (dtype) {
      case at::kBFloat16: return kBFloat;
#define TORCH_CODE(cpp_type, name, ...) \
      case c10::ScalarType::name: return k##name;
      C10_FORALL_FLOAT8_TYPES(TORCH_CODE)
#undef TORCH_CODE
      default: break;
    }
    switch (facts.kind) {
      case c10::TypeKind::Bool: return kBool;
      case c10::TypeKind::Floating: return kFloat;
      case c10::TypeKind::Complex: return kComplex;
      default: return facts.is_signed ? kInt : kUInt;
    }
  };
  return {code(), static_cast<uint8_t>(facts.size * 8), 1};
}

c10::ScalarType dtype_of(DLDataType wanted) {
  for (const c10::TypeFacts& facts : c10::all_scalar_types()) {
    const DLDataType type = type_of(facts.type);
    if (type.code == wanted.code && type.bits == wanted.bits && type.lanes == wanted.lanes) return facts.type;
  }
  raise(PyExc_BufferError, c10::detail::concatenate("from_dlpack: no dtype has DLPack's type code ", int{wanted.code},
                                                    " with ", int{wanted.bits}, " bits and ", wanted.lanes, " lanes"));
}

// Of a capsule that nobody took.
template <typename Struct>
void free_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Struct::kName)) return;
  auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule, Struct::kName));
  if (managed->deleter) managed->deleter(managed);
}

template <typename Struct>
PyObject* make_capsule(const at::Tensor& tensor, std::unique_ptr<Exported<Struct>> exported) {
  exported->tensor = tensor;
  exported->sizes = c10::DimVector(tensor.sizes().begin(), tensor.sizes().end());
  exported->strides = c10::DimVector(tensor.strides().begin(), tensor.strides().end());
  const bool on_cuda = tensor.device().is_cuda();
  DLTensor& target = exported->managed.tensor;
  target.data = tensor.data_ptr();
  target.device = {on_cuda ? 2 : 1, on_cuda ? tensor.device().index() : 0};
  target.ndim = static_cast<int32_t>(tensor.dim());
  target.dtype = type_of(tensor.dtype());
  target.shape = exported->sizes.data();
  target.strides = exported->strides.data();
  exported->managed.context = exported.get();
  exported->managed.deleter = [](Struct* managed) { delete static_cast<Exported<Struct>*>(managed->context); };
  PyObject* capsule = checked(PyCapsule_New(&exported->managed, Struct::kName, free_capsule<Struct>));
  exported.release();
  return capsule;
}

PyObject* to_dlpack(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* object = nullptr;
    int versioned = 0;
    int copied = 0;
    if (!PyArg_ParseTuple(arguments, "O|pp:_to_dlpack", &object, &versioned, &copied)) throw PythonError();
    if (!is_tensor(object)) raise(PyExc_TypeError, "to_dlpack() wants a tensor, not " + type_name(object));
    const at::Tensor& tensor = unpack(object);
    if (tensor.impl()->sparse()) {
      raise(PyExc_BufferError, "Can't export tensors with layout other than torch.strided");
    }
    if (!tensor.is_cpu() && !tensor.device().is_cuda()) {
      raise(PyExc_BufferError, "Can't export a tensor on " + tensor.device().str() + ": it has no memory to share");
    }
    if (!versioned) return make_capsule(tensor, std::make_unique<Exported<Managed>>());
    auto exported = std::make_unique<Exported<ManagedVersioned>>();
    exported->managed.major = kMajorVersion;
    exported->managed.flags = copied ? kIsCopied : 0;
    return make_capsule(tensor, std::move(exported));
  });
}

template <typename Struct>
void release_memory(void* context) {
  auto* managed = static_cast<Struct*>(context);
  if (managed->deleter) managed->deleter(managed);
}

c10::Device device_of(DLDevice device) {
  if (device.type == 1 || device.type == 3) return at::kCPU;
  if (device.type == 2) return {at::kCUDA, static_cast<c10::DeviceIndex>(device.index)};
  raise(PyExc_BufferError, c10::detail::concatenate("from_dlpack: memory of DLPack's device type ", device.type,
                                                    " cannot be shared here; the CPU's (1) and CUDA's (2) can"));
}

template <typename Struct>
at::Tensor take_memory(PyObject* capsule) {
  auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(capsule, Struct::kName));
  const DLTensor& source = managed->tensor;
  const c10::Device device = device_of(source.device);
  const c10::ScalarType dtype = dtype_of(source.dtype);
  if (source.ndim < 0 || (source.ndim > 0 && !source.shape)) {
    raise(PyExc_BufferError,
          c10::detail::concatenate("from_dlpack: a tensor of ", source.ndim, " dimensions without sizes"));
  }
  const c10::IntArrayRef sizes(source.shape, static_cast<size_t>(source.ndim));
  c10::checked_numel(sizes);
  c10::DimVector strides(sizes.size());
  int64_t contiguous = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    // The stride of a single element says nothing.
    const bool is_given = source.strides && !(sizes[dim] <= 1 && source.strides[dim] < 0);
    strides[dim] = is_given ? source.strides[dim] : contiguous;
    TORCH_CHECK_VALUE(strides[dim] >= 0, "from_dlpack: dimension ", dim, " has the stride ", strides[dim],
                      "; negative ones are not supported, copy the array first");
    contiguous *= std::max<int64_t>(sizes[dim], 1);
  }
  const int64_t bytes = c10::checked_storage_bytes(sizes, strides, static_cast<int64_t>(c10::element_size(dtype)));
  // From here on the memory is the tensor's: the capsule is used.
  checked(PyCapsule_SetName(capsule, Struct::kUsedName));
  void* data = static_cast<char*>(source.data) + source.byte_offset;
  c10::Storage storage(c10::DataPtr(data, managed, release_memory<Struct>, device), static_cast<size_t>(bytes));
  auto impl = c10::make_intrusive<at::TensorImpl>(std::move(storage), dtype, device);
  impl->set_sizes_and_strides(sizes, strides, 0);
  return at::Tensor(std::move(impl));
}

PyObject* from_dlpack(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    if (PyCapsule_IsValid(capsule, Managed::kName)) return wrap(take_memory<Managed>(capsule));
    if (!PyCapsule_IsValid(capsule, ManagedVersioned::kName)) {
      raise(PyExc_RuntimeError,
            "from_dlpack received an invalid capsule: it wants an object with __dlpack__, or a capsule, each of which "
            "can be taken once only");
    }
    const auto* managed = static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule, ManagedVersioned::kName));
    if (managed->major != kMajorVersion) {
      raise(PyExc_BufferError, c10::detail::concatenate("from_dlpack: the capsule is of DLPack ", managed->major, ".",
                                                        managed->minor, ", and only 1.x is known here"));
    }
    return wrap(take_memory<ManagedVersioned>(capsule));
  });
}

}  // namespace

PyMethodDef dlpack_functions[] = {
    {"_to_dlpack", to_dlpack, METH_VARARGS,
     "_to_dlpack(tensor, versioned=False, copied=False)\n"
     "A capsule of the tensor's memory, as DLPack 1.x has it or as before."},
    {"_from_dlpack", from_dlpack, METH_O, "_from_dlpack(capsule)\nA tensor of a capsule's memory, which takes it."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace torch::python
