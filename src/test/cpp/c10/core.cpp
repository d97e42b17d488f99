#include <c10/core/Backend.h>
#include <c10/core/KernelTable.h>
#include <c10/core/Scalar.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>

#include <check.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

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

TEST(dtypes_promote_as_a_lattice) {
  CHECK_EQ(c10::promote_types(c10::kBool, c10::kByte), c10::kByte);
  CHECK_EQ(c10::promote_types(c10::kLong, c10::kFloat), c10::kFloat);
  CHECK_EQ(c10::promote_types(c10::kDouble, c10::kInt), c10::kDouble);
  CHECK_EQ(c10::promote_types(ScalarType::Undefined, c10::kInt), c10::kInt);
  CHECK_EQ(c10::promote_types(c10::kByte, c10::kChar), c10::kShort);
  CHECK_EQ(c10::promote_types(c10::kHalf, c10::kBFloat16), c10::kFloat);
  CHECK_EQ(c10::promote_types(c10::kComplexFloat, c10::kDouble), c10::kComplexDouble);
  for (const c10::TypeFacts& a : c10::all_scalar_types()) {
    CHECK_EQ(c10::promote_types(a.type, a.type), a.type);
    CHECK_EQ(c10::element_size(a.type), static_cast<size_t>(a.size));
    for (const c10::TypeFacts& b : c10::all_scalar_types()) {
      const bool floating = c10::is_floating_type(a.type) || c10::is_floating_type(b.type);
      const bool has_float8 = a.is_float8 || b.is_float8;
      if ((has_float8 || ((a.is_barebones || b.is_barebones) && !floating)) && a.type != b.type) {
        CHECK_THROWS(c10::Error, c10::promote_types(a.type, b.type), "is not supported, attempted to promote");
        continue;
      }
      const ScalarType both = c10::promote_types(a.type, b.type);
      CHECK_EQ(both, c10::promote_types(b.type, a.type));
      CHECK_EQ(c10::promote_types(both, a.type), both);
    }
  }
  CHECK(c10::can_cast(c10::kLong, c10::kByte));
  CHECK(!c10::can_cast(c10::kFloat, c10::kLong));
  CHECK(!c10::can_cast(c10::kLong, c10::kBool));
  CHECK(c10::can_cast(c10::kFloat, ScalarType::Float8_e4m3fn));
  CHECK(!c10::can_cast(ScalarType::Float8_e4m3fn, c10::kLong));
  CHECK(c10::can_cast(c10::kDouble, c10::kComplexFloat));
  CHECK(!c10::can_cast(c10::kComplexFloat, c10::kDouble));
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
  CHECK_THROWS(c10::Error, Scalar(-129).to<int8_t>(), "to type int8_t without overflow");
  CHECK_THROWS(c10::Error, Scalar(1e6).to<c10::Half>(), "to type c10::Half without overflow");
  CHECK(std::isinf(static_cast<float>(Scalar(INFINITY).to<c10::Half>())));
  CHECK_EQ(Scalar(c10::complex<double>(2, 0)).to<int64_t>(), 2);
  CHECK_THROWS(c10::Error, Scalar(c10::complex<double>(2, 1)).to<float>(), "to type float without overflow");
  CHECK_THROWS(c10::Error, Scalar(uint64_t{1} << 63).to<int64_t>(), "without overflow");
}

// The value of a float16 by its definition.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction ? NAN : INFINITY)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(halves_are_rounded_to_the_nearest_even) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const c10::Half half(static_cast<uint16_t>(bits), c10::Half::FromBits());
    const double value = half_value(half.bits);
    const auto widened = static_cast<float>(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(widened));
      CHECK(std::isnan(static_cast<float>(c10::Half(widened))));
      continue;
    }
    CHECK_EQ(static_cast<double>(widened), value);
    CHECK_EQ(c10::Half(widened).bits, half.bits);
    // Between this one and the next larger: the middle goes to the even one, what is nearer to one goes there.
    if ((bits & 0x7fff) >= 0x7bff) continue;
    const double next = half_value(static_cast<uint16_t>(bits + 1));
    const auto middle = static_cast<float>((value + next) / 2);
    CHECK_EQ(c10::Half(middle).bits, bits & 1 ? bits + 1 : bits);
    CHECK_EQ(c10::Half(std::nextafter(middle, static_cast<float>(value))).bits, bits);
    CHECK_EQ(c10::Half(std::nextafter(middle, static_cast<float>(next))).bits, bits + 1);
  }
  CHECK_EQ(c10::Half(65519.0f).bits, 0x7bff);
  CHECK_EQ(c10::Half(65520.0f).bits, 0x7c00);
  CHECK_EQ(c10::Half(-1e30f).bits, 0xfc00);
  CHECK_EQ(c10::Half(1e-30f).bits, 0);
}

TEST(bfloat16_is_the_upper_half_of_a_float) {
  CHECK_EQ(c10::BFloat16(1.0f).bits, 0x3f80);
  CHECK_EQ(c10::BFloat16(1.00390625f).bits, 0x3f80);  // a tie: to the even one
  CHECK_EQ(c10::BFloat16(1.01171875f).bits, 0x3f82);
  CHECK_EQ(c10::BFloat16(3.4e38f).bits, 0x7f80);
  CHECK_EQ(c10::BFloat16(NAN).bits, 0x7fc0);
  CHECK_EQ(static_cast<float>(c10::BFloat16(-2.5f)), -2.5f);
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

TEST(small_blocks_are_used_again_by_the_thread_that_gave_them_up) {
#if !defined(__SANITIZE_ADDRESS__)
  void* const first = c10::cpu_allocator()->allocate(200).get();
  c10::DataPtr again = c10::cpu_allocator()->allocate(256);  // as many units of 64 bytes
  CHECK_EQ(again.get(), first);
  void* given_up = nullptr;
  std::thread([&] {
    CHECK(c10::cpu_allocator()->allocate(200).get() != first);
    again.clear();
    given_up = c10::cpu_allocator()->allocate(256).get();
  }).join();
  CHECK_EQ(given_up, first);
#endif
}

TEST(blocks_of_all_sizes_are_aligned_and_apart) {
  std::vector<c10::DataPtr> blocks;
  for (int round = 0; round < 2; ++round) {
    for (int repeat = 0; repeat < 20; ++repeat) {  // more than are kept
      for (size_t bytes = 1; bytes < 5000; bytes += 61) {
        blocks.push_back(c10::cpu_allocator()->allocate(bytes));
        CHECK_EQ(reinterpret_cast<uintptr_t>(blocks.back().get()) % 64, uintptr_t{0});
        std::memset(blocks.back().get(), static_cast<int>(blocks.size() % 251), bytes);
      }
    }
    size_t number = 0;
    for (int repeat = 0; repeat < 20; ++repeat) {
      for (size_t bytes = 1; bytes < 5000; bytes += 61) {
        const unsigned char* data = static_cast<const unsigned char*>(blocks[number++].get());
        CHECK_EQ(data[0], number % 251);
        CHECK_EQ(data[bytes - 1], number % 251);
      }
    }
    blocks.clear();
  }
}

TEST_MAIN()
