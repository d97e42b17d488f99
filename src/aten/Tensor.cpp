// The hand-written part of class Tensor that needs operators.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>

namespace at {

namespace {

int64_t wrap_dim(int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  TORCH_CHECK_INDEX(dim >= -range && dim < range && ndim > 0, "Dimension out of range (expected to be in range of [",
                    -range, ", ", range - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + ndim : dim;
}

}  // namespace

int64_t Tensor::size(int64_t dim) const { return sizes()[wrap_dim(dim, this->dim())]; }
int64_t Tensor::stride(int64_t dim) const { return strides()[wrap_dim(dim, this->dim())]; }

void Tensor::throw_no_data() {
  throw c10::NotImplementedError("a tensor on the meta device has a shape and no data, which this operator needs");
}

template <typename T>
T Tensor::item() const {
  return at::item(*this).to<T>();
}
#define AT_DEFINE_ITEM(cpp_type, name, ...) template TORCH_API cpp_type Tensor::item<cpp_type>() const;
C10_FORALL_SCALAR_TYPES(AT_DEFINE_ITEM)
#undef AT_DEFINE_ITEM

Tensor Tensor::operator[](int64_t index) const { return at::select(*this, 0, index); }
Tensor Tensor::operator-() const { return at::neg(*this); }
Tensor& Tensor::operator+=(const Tensor& other) { return at::add_(*this, other); }
Tensor& Tensor::operator-=(const Tensor& other) { return at::sub_(*this, other); }
Tensor& Tensor::operator*=(const Tensor& other) { return at::mul_(*this, other); }
Tensor& Tensor::operator/=(const Tensor& other) { return at::div_(*this, other); }

}  // namespace at
