#include <aten/EmptyTensor.h>
#include <aten/WrappedScalar.h>

namespace at {

Tensor wrapped_scalar_tensor(const Scalar& value, Device like) {
  Tensor tensor = detail::empty({}, value.type(), like.is_meta() ? like : Device(kCPU));
  if (!like.is_meta()) detail::store_scalar(tensor.data_ptr(), value.type(), value);
  tensor.impl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace at
