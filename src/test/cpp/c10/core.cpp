#include <c10/core/Backend.h>
#include <c10/core/KernelTable.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>

#include <check.h>

using c10::Device;
using c10::Scalar;
using c10::ScalarType;

TEST(device_reads_and_writes_its_name) {
  CHECK_EQ(Device("cuda:1").str(), "cuda:1");
  CHECK_EQ(Device("cpu"), Device(c10::kCPU));
  CHECK(!Device("cuda").has_index());
  CHECK_THROWS(c10::Error, Device("gpu"), "Expected one of cpu, cuda, meta");
  CHECK_THROWS(c10::Error, Device("cuda:-1"), "Invalid device string");
  CHECK_THROWS(c10::Error, Device("cuda:1x"), "Invalid device string");
}

TEST(dtypes_promote_along_a_chain) {
  CHECK_EQ(c10::promote_types(c10::kBool, c10::kByte), c10::kByte);
  CHECK_EQ(c10::promote_types(c10::kLong, c10::kFloat), c10::kFloat);
  CHECK_EQ(c10::promote_types(c10::kDouble, c10::kInt), c10::kDouble);
  CHECK_EQ(c10::promote_types(ScalarType::Undefined, c10::kInt), c10::kInt);
  CHECK(c10::can_cast(c10::kLong, c10::kByte));
  CHECK(!c10::can_cast(c10::kFloat, c10::kLong));
  CHECK(!c10::can_cast(c10::kLong, c10::kBool));
}

TEST(scalar_refuses_to_overflow) {
  CHECK_EQ(Scalar(255).to<uint8_t>(), 255);
  CHECK_EQ(Scalar(-1).to<uint8_t>(), 255);
  CHECK_THROWS(c10::Error, Scalar(256).to<uint8_t>(), "without overflow");
  CHECK_THROWS(c10::Error, Scalar(1e10).to<int32_t>(), "without overflow");
  CHECK_THROWS(c10::Error, Scalar(9.3e18).to<int64_t>(), "without overflow");
  CHECK_EQ(Scalar(2.75).to<int64_t>(), 2);
  CHECK(Scalar(true).is_boolean() && !Scalar(true).is_integral(false));
  CHECK_THROWS(c10::Error, -Scalar(true), "cannot negate");
}

TEST(tensor_impl_knows_its_layout) {
  c10::TensorImpl impl(c10::Storage(48, c10::cpu_allocator()), c10::kFloat, c10::kCPU);
  impl.set_sizes_contiguous({3, 4});
  CHECK_EQ(impl.strides(), c10::IntArrayRef({4, 1}));
  CHECK(impl.is_contiguous());
  impl.set_sizes_and_strides({4, 3}, {1, 4}, 0);
  CHECK(!impl.is_contiguous() && impl.is_non_overlapping_and_dense());
  impl.set_sizes_and_strides({2, 2}, {4, 2}, 0);
  CHECK(!impl.is_non_overlapping_and_dense());
  impl.set_sizes_and_strides({1, 4}, {99, 1}, 4);
  CHECK(impl.is_contiguous());
  CHECK_EQ(static_cast<char*>(impl.data()) - static_cast<char*>(impl.storage().data()), 16);
}

TEST(views_share_the_version_counter) {
  auto base = c10::make_intrusive<c10::TensorImpl>(c10::Storage(8, c10::cpu_allocator()), c10::kFloat, c10::kCPU);
  auto view = base->shallow_copy(/*share_version=*/true);
  auto stranger = base->shallow_copy(/*share_version=*/false);
  view->bump_version();
  CHECK_EQ(base->version_counter().current(), 1u);
  CHECK_EQ(stranger->version_counter().current(), 0u);
}

TEST(kernel_tables_name_what_is_missing) {
  static bool called = false;
  c10::KernelTable<void(int)> table("sum", [](int) { called = true; });
  table(c10::kCPU, 1);
  CHECK(called);
  called = false;
  table(c10::kMeta, 1);
  CHECK(!called);
  CHECK_THROWS(c10::NotImplementedError, table(c10::kCUDA, 1), "'sum' with tensors on the CUDA backend");
}

TEST(allocating_too_much_is_an_error) {
  CHECK_THROWS(c10::OutOfMemoryError, c10::cpu_allocator()->allocate(size_t{1} << 60), "1152921504606846976 bytes");
  const c10::DataPtr data = c10::cpu_allocator()->allocate(100);
  CHECK_EQ(reinterpret_cast<uintptr_t>(data.get()) % 64, uintptr_t{0});
}

TEST_MAIN()
