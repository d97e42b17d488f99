#pragma once
// One object for what every element-wise operator and reduction has to settle before its kernel runs: device, type
// promotion, broadcasting, allocation of the result, overlap checks,
// and an iteration space that is as flat as it can be.
//
//   void native::add(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
//     auto iter = TensorIterator::binary_op(out, self, other);   // allocates `out` when it is undefined
//     iter.run(add_kernels, alpha);                              // kernel of the device, then casts back into `out`
//   }
//
// Operands are numbered: outputs first, then inputs. Inside, dimension 0 is the fastest one (PyTorch's users count the
// other way round), strides are in bytes, and neighbouring dimensions are merged where all operands allow it.

#include <aten/Parallel.h>
#include <aten/Tensor.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace at {

// What an iterator is built from. Tensors are borrowed: they must outlive the iterator.
class TORCH_API TensorIteratorConfig {
 public:
  static constexpr int kMaxOperands = 4;

  // An undefined output is allocated, with the dtype given here or the common one; a defined one is checked, resized
  // when it is not also an input, and written through a temporary when the kernel computes in another dtype.
  TensorIteratorConfig& output(Tensor& tensor, std::optional<ScalarType> dtype = std::nullopt);
  // Takes part in type promotion and is cast to the common dtype.
  TensorIteratorConfig& input(const Tensor& tensor);
  // Keeps its own dtype (the condition of `where`).
  TensorIteratorConfig& fixed_input(const Tensor& tensor);
  // Integers and bool are computed in the default dtype (exp, true division).
  TensorIteratorConfig& promote_integers_to_float() { return integers_to_float_ = true, *this; }
  // The common dtype is this one, whatever the inputs are.
  TensorIteratorConfig& compute_in(ScalarType dtype) { return compute_dtype_ = dtype, *this; }
  // The dtype of a temporary or new output need not be safe to cast to the given output's (copy_, fill_).
  TensorIteratorConfig& any_output_cast() { return check_output_cast_ = false, *this; }
  // Numbers are rounded to the promoted dtype before they are widened to what the kernel computes in: 0.1 equals a
  // float16 tensor's 0.1. Arithmetic takes them as they are.
  TensorIteratorConfig& round_numbers() { return round_numbers_ = true, *this; }
  // Nothing is cast or promoted: the kernel takes operands of any dtype and device (copy_).
  TensorIteratorConfig& leave_dtypes() { return leave_dtypes_ = true, *this; }
  TensorIteratorConfig& allow_other_devices() { return check_devices_ = false, *this; }
  // The shape is this one; outputs have size 1 or stride 0 where they are reduced, and are not checked against it.
  TensorIteratorConfig& reduction() { return is_reduction_ = true, *this; }
  // The output's elements may share memory with each other or partly with inputs.
  TensorIteratorConfig& allow_overlap() { return check_overlap_ = false, *this; }

 private:
  friend class TensorIterator;
  struct Source {
    Tensor* output = nullptr;
    const Tensor* input = nullptr;
    std::optional<ScalarType> dtype;
    bool fixed = false;
  };
  Source sources_[kMaxOperands];
  int count_ = 0;
  int outputs_ = 0;
  std::optional<ScalarType> compute_dtype_;
  bool integers_to_float_ = false;
  bool check_output_cast_ = true;
  bool round_numbers_ = false;
  bool leave_dtypes_ = false;
  bool check_devices_ = true;
  bool is_reduction_ = false;
  bool check_overlap_ = true;
};

class TORCH_API TensorIterator {
 public:
  static constexpr int kMaxOperands = TensorIteratorConfig::kMaxOperands;
  using Loop = void (*)(void* context, char** data, const int64_t* strides, int64_t count);

  explicit TensorIterator(const TensorIteratorConfig& config);

  // ---- the usual shapes of operators
  // Writes without reading: elements that share memory get the same value, so overlap does no harm.
  static TensorIterator nullary_op(Tensor& out);
  static TensorIterator unary_op(Tensor& out, const Tensor& self);
  static TensorIterator unary_float_op(Tensor& out, const Tensor& self);
  // Result bool, input in its own dtype (isnan, logical_not).
  static TensorIterator unary_predicate_op(Tensor& out, const Tensor& self);
  static TensorIterator binary_op(Tensor& out, const Tensor& self, const Tensor& other);
  static TensorIterator binary_float_op(Tensor& out, const Tensor& self, const Tensor& other);
  // Result bool, inputs in their common dtype.
  static TensorIterator comparison_op(Tensor& out, const Tensor& self, const Tensor& other);
  static TensorIterator ternary_op(Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c);
  // `condition` is bool and stays so; the result has the common dtype of the others.
  static TensorIterator where_op(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other);
  // Operands keep their dtypes and devices: `out` is written from `src` broadcast to it.
  static TensorIterator copy_op(Tensor& out, const Tensor& src);
  // Reduces `self`, cast to `compute_dtype`, over `dims` (may be negative; empty: all). `out` (undefined: allocated)
  // gets `out_dtype` and loses the dimensions unless `keepdim`. Kernels see an output stride of 0 in reduced
  // dimensions, which come first (fastest) among dimensions only as far as the input's strides say so. The iteration
  // shape is the input's; with an empty input the kernel still runs, to write its identity.
  // The caller checks dims that cannot be empty.
  static TensorIterator reduce_op(Tensor& out, const Tensor& self, IntArrayRef dims, bool keepdim, ScalarType out_dtype,
                                  ScalarType compute_dtype);

  // Calls the kernel of the iterator's device, unless there is nothing to write, and brings results into the outputs
  // given (casts). `kernels` is a KernelTable<void(TensorIterator&, Args...)>.
  template <typename Table, typename... Args>
  void run(const Table& kernels, const Args&... args) {
    if (C10_LIKELY(has_work_)) {
      const c10::DeviceGuard guard(device_);
      kernels(device_.type(), *this, args...);
    }
    if (C10_UNLIKELY(needs_finish_)) finish();
  }

  // ---- what kernels ask
  int ndim() const { return static_cast<int>(shape_.size()); }
  // Fastest dimension first.
  IntArrayRef shape() const { return shape_; }
  int64_t numel() const { return numel_; }
  int noperands() const { return count_; }
  int noutputs() const { return outputs_; }
  int ninputs() const { return count_ - outputs_; }
  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  // The dtype that inputs (but fixed ones) and outputs (but those declared with their own) have inside the kernel: of
  // operands in float16 or bfloat16, float. On the CPU element-wise operands are brought to it row by row, inside the
  // loops below: data() and strides() tell of memory, which a kernel without loops asks only of reductions. CUDA's
  // kernels of iterators with inputs widen float16 and bfloat16 themselves, and round to them: there tensor().dtype()
  // is that of memory. Operands of other types, and on other devices, are temporary tensors of the kernel's dtype.
  ScalarType common_dtype() const { return common_dtype_; }
  ScalarType dtype(int operand = 0) const { return operands_[operand].dtype; }
  // The one that the operand has in memory, where rows are converted on their way.
  ScalarType memory_dtype(int operand) const {
    const Operand& o = operands_[operand];
    return o.memory_dtype == ScalarType::Undefined ? o.dtype : o.memory_dtype;
  }
  // float16 or bfloat16, if it is what all operands have in memory but numbers, which are float; else Undefined.
  ScalarType halves_in_memory() const;
  int64_t element_size(int operand) const { return static_cast<int64_t>(c10::element_size(dtype(operand))); }
  ScalarType input_dtype(int input = 0) const { return dtype(outputs_ + input); }
  char* data(int operand) const {
    const Operand& o = operands_[operand];
    return o.is_inline ? const_cast<char*>(inline_scalars_[operand].bytes) : o.data;
  }
  // In bytes, one per dimension, fastest first.
  IntArrayRef strides(int operand) const { return operands_[operand].strides; }
  // The operand as a tensor: the caller's, or the temporary that stands for it. Its shape is not the iteration's.
  // A number that was cast in place has no tensor (is_cpu_scalar() is true then).
  const Tensor& tensor(int operand) const;
  const Tensor& output(int output = 0) const { return tensor(output); }
  const Tensor& input(int input = 0) const { return tensor(outputs_ + input); }
  // Every operand is one unbroken run of elements in the same order.
  bool is_contiguous() const;
  // A 0-dim tensor in host memory, broadcast; the iterator's device may be another one. Read it with scalar_value().
  bool is_cpu_scalar(int operand) const { return operands_[operand].is_cpu_scalar; }
  // The value of a CPU scalar operand, whatever its dtype.
  template <typename T>
  T scalar_value(int operand) const {
    return read_scalar(operand).to<T>();
  }
  bool is_reduction() const { return is_reduction_; }
  // Whether the output is reduced over `dim` (numbered as in shape()).
  bool is_reduced(int dim) const { return operands_[0].strides[dim] == 0 && shape_[dim] > 1; }
  int64_t num_output_elements() const;

  // ---- loops
  // loop(char** data, const int64_t* strides, int64_t count) gets one row after another: `data[i]` is operand i's first
  // element, `strides[i]` its step in bytes. Rows are parts of dimension 0, given out to threads.
  template <typename Body>
  void for_each(Body&& loop, int64_t grain_size = kGrainSize) const {
    run_loop(&call<std::remove_reference_t<Body>>, address(loop), grain_size, converts_rows_);
  }
  // The same with rows as they lie in memory, which are not converted.
  template <typename Body>
  void for_each_in_memory(Body&& loop, int64_t grain_size) const {
    run_loop(&call<std::remove_reference_t<Body>>, address(loop), grain_size, false);
  }
  // The same in one thread, for elements [begin, end) of the iteration in order.
  template <typename Body>
  void serial_for_each(Body&& loop, int64_t begin, int64_t end) const {
    serial_loop(&call<std::remove_reference_t<Body>>, address(loop), begin, end, converts_rows_);
  }

  // Has a kernel see its two inputs the other way round; the result lies as it would have.
  void swap_inputs() {
    std::swap(operands_[outputs_], operands_[outputs_ + 1]);
    std::swap(inline_scalars_[outputs_], inline_scalars_[outputs_ + 1]);
  }

  // ---- splitting (for kernels that index with 32 bits)
  bool can_use_32bit_indexing() const;
  // Calls body(const TensorIterator& part) on parts that cover this iterator, each of which can.
  template <typename Body>
  void with_32bit_indexing(Body&& body) const {
    if (can_use_32bit_indexing()) return body(*this);
    TensorIterator rest(*this);
    const TensorIterator first = rest.split_off_half();
    first.with_32bit_indexing(body);
    rest.with_32bit_indexing(body);
  }

 private:
  struct Operand {
    char* data = nullptr;
    DimVector strides;
    Tensor* output = nullptr;       // the caller's
    const Tensor* input = nullptr;  // the caller's
    Tensor temporary;               // stands for it in the kernel, when defined
    Tensor target;                  // what finish() writes the temporary into; undefined: the caller's
    ScalarType dtype = ScalarType::Undefined;      // in the kernel
    ScalarType memory_dtype = ScalarType::Undefined;  // in memory, where it is another one: rows are converted
    ScalarType new_dtype = ScalarType::Undefined;  // of an output that is allocated
    bool fixed = false;
    bool is_inline = false;
    bool is_cpu_scalar = false;
    bool allocate = false;  // the output is new
    bool resize = false;    // the output is given, with another shape
    const Tensor& source() const { return output ? *output : *input; }
  };
  struct alignas(16) InlineScalar {
    char bytes[16];
  };

  template <typename Body>
  static void call(void* context, char** data, const int64_t* strides, int64_t count) {
    (*static_cast<Body*>(context))(data, strides, count);
  }

  // call() casts back to the type that it was, const included.
  template <typename Body>
  static void* address(Body& body) {
    return const_cast<void*>(static_cast<const void*>(&body));
  }

  bool try_fast_path(const TensorIteratorConfig& config);
  void compute_device(const TensorIteratorConfig& config);
  void compute_dtypes(const TensorIteratorConfig& config);
  void compute_shape(const TensorIteratorConfig& config);
  void check_overlap() const;
  void compute_strides();
  DimVector order_dimensions() const;
  DimVector result_strides(const DimVector& order) const;
  void make_outputs(const DimVector& order);
  void cast_inputs(const TensorIteratorConfig& config);
  void set_number(int index, const TensorIteratorConfig& config);
  void convert_rows_of(Operand& operand, ScalarType memory_dtype);
  void permute(const DimVector& order);
  void coalesce();
  // Whether rows can be converted on their way, instead of whole tensors before and after.
  bool can_convert_rows() const { return device_.is_cpu() && !is_reduction_ && outputs_ < count_; }
  void finish();
  Scalar read_scalar(int operand) const;
  void run_loop(Loop loop, void* context, int64_t grain_size, bool converts) const;
  void run_slabs(Loop loop, void* context, int64_t grain_size, bool converts) const;
  void swap_dimensions(int a, int b);
  int crossing_dimension() const;
  void run_tiles(Loop loop, void* context, int64_t grain_size, bool converts) const;
  void serial_loop(Loop loop, void* context, int64_t begin, int64_t end, bool converts) const;
  void walk(Loop loop, void* context, int64_t begin, int64_t end) const;
  // Cuts the largest dimension in two: this iterator keeps the second half, the first is returned.
  TensorIterator split_off_half();

  Operand operands_[kMaxOperands];
  InlineScalar inline_scalars_[kMaxOperands];
  DimVector shape_;
  int64_t numel_ = 0;
  int count_ = 0;
  int outputs_ = 0;
  Device device_ = c10::kCPU;
  ScalarType promoted_ = ScalarType::Undefined;      // of the operands
  ScalarType common_dtype_ = ScalarType::Undefined;  // in the kernel
  bool is_reduction_ = false;
  bool has_work_ = false;
  bool needs_finish_ = false;
  bool converts_rows_ = false;
};

namespace detail {
// The dtypes met so far, by category.
struct PromotionState {
  ScalarType dimensioned = ScalarType::Undefined;
  ScalarType zero_dim = ScalarType::Undefined;
  ScalarType wrapped = ScalarType::Undefined;
  void add(const Tensor& tensor);
  ScalarType result() const;
};
}  // namespace detail

// The dtype of an operation on these tensors: dimensioned tensors before 0-dim ones before wrapped numbers; a later
// category counts only when its kind (bool, integer, float) is higher.
TORCH_API ScalarType result_type(TensorList tensors);
TORCH_API ScalarType result_type(const Tensor& tensor, const Scalar& number);
// The shape that both broadcast to. Throws Error with PyTorch's text.
TORCH_API DimVector broadcast_shapes(IntArrayRef left, IntArrayRef right);
// Throws Error when two elements of `tensor`, which is to be written, share memory.
TORCH_API void assert_no_internal_overlap(const Tensor& tensor);
// Throws Error when `written` and `read` share memory but are not the same elements.
TORCH_API void assert_no_partial_overlap(const Tensor& written, const Tensor& read);

}  // namespace at
