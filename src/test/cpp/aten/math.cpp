// Transcendental kernels beside the C library in higher precision, over the whole range and at its edges.

#include <torch/torch.h>

#include <aten/helpers.h>

#include <cstring>
#include <limits>
#include <random>

using at::Tensor;

namespace {

template <typename T>
struct Case {
  const char* name;
  Tensor (*ours)(const Tensor&);
  long double (*exact)(long double);
  T low;
  T high;
  double ulps;
};

// Distance in units of the last place of the exact result.
template <typename T>
double error_in_ulps(T given, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isnan(rounded)) return std::isnan(given) ? 0 : INFINITY;
  if (std::isinf(rounded)) return given == rounded ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::min() : rounded),
                                std::numeric_limits<T>::min_exponent - 1);
  const double unit = std::ldexp(1.0, exponent - std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::fabs(static_cast<long double>(given) - exact)) / unit;
}

template <typename T>
void run(const Case<T>& item) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> inputs{0,
                        -T(0),
                        1,
                        -1,
                        infinity,
                        -infinity,
                        std::numeric_limits<T>::quiet_NaN(),
                        T(1e-30),
                        -T(1e-30),
                        T(104),
                        T(-104),
                        T(710),
                        T(-750),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        T(40000),
                        T(-1e10),
                        T(88.5),
                        T(706.5),
                        T(-0.5),
                        T(-0.999)};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> inside(item.low, item.high);
  while (inputs.size() < 20011) inputs.push_back(static_cast<T>(inside(random)));
  Tensor tensor = at::empty({static_cast<int64_t>(inputs.size())}, c10::CppTypeToScalarType<T>::value);
  std::copy(inputs.begin(), inputs.end(), tensor.data_ptr<T>());
  const std::vector<T> results = values<T>(item.ours(tensor));
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = error_in_ulps(results[i], item.exact(inputs[i]));
    if (!(error <= worst)) {
      worst = error;
      where = inputs[i];
    }
  }
  std::printf("  %s: %.2f ulps at %g\n", item.name, worst, static_cast<double>(where));
  if (!(worst <= item.ulps)) check::fail(__FILE__, __LINE__, std::string(item.name) + " is less accurate than it was");
  // One at a time and with gaps: the same bits.
  const std::vector<T> strided = values<T>(item.ours(at::stack({tensor, tensor}, 1).select(1, 0)));
  CHECK(std::memcmp(strided.data(), results.data(), results.size() * sizeof(T)) == 0);
}

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_rsqrt(long double x) { return 1 / std::sqrt(x); }

template <typename T>
void run_all() {
  const auto exp = [](const Tensor& x) { return at::exp(x); };
  run<T>({"exp", exp, [](long double x) { return std::exp(x); }, T(-110), T(100), 1.5});
  run<T>({"expm1", [](const Tensor& x) { return at::expm1(x); }, [](long double x) { return std::expm1(x); }, T(-5),
          T(80), 4});
  run<T>(
      {"log", [](const Tensor& x) { return at::log(x); }, [](long double x) { return std::log(x); }, T(0), T(100), 3});
  run<T>({"log1p", [](const Tensor& x) { return at::log1p(x); }, [](long double x) { return std::log1p(x); }, T(-0.9),
          T(10), 3});
  run<T>({"log2", [](const Tensor& x) { return at::log2(x); }, [](long double x) { return std::log2(x); }, T(0), T(100),
          1.5});
  run<T>({"log10", [](const Tensor& x) { return at::log10(x); }, [](long double x) { return std::log10(x); }, T(0),
          T(100), 2.5});
  run<T>({"sin", [](const Tensor& x) { return at::sin(x); }, [](long double x) { return std::sin(x); }, T(-100), T(100),
          3});
  run<T>({"cos", [](const Tensor& x) { return at::cos(x); }, [](long double x) { return std::cos(x); }, T(-100), T(100),
          3});
  run<T>({"tanh", [](const Tensor& x) { return at::tanh(x); }, [](long double x) { return std::tanh(x); }, T(-10),
          T(10), 4});
  run<T>(
      {"erf", [](const Tensor& x) { return at::erf(x); }, [](long double x) { return std::erf(x); }, T(-4), T(4), 2});
  run<T>({"sigmoid", [](const Tensor& x) { return at::sigmoid(x); }, exact_sigmoid, T(-20), T(20), 3});
  run<T>({"sqrt", [](const Tensor& x) { return at::sqrt(x); }, [](long double x) { return std::sqrt(x); }, T(0), T(100),
          0.51});
  run<T>({"rsqrt", [](const Tensor& x) { return at::rsqrt(x); }, exact_rsqrt, T(0), T(100), 1.5});
}

}  // namespace

TEST(float32) { run_all<float>(); }
TEST(float64) { run_all<double>(); }

TEST(whole_logarithms_are_whole) {
  CHECK_VALUES(at::log2(make<float>({1, 2, 8, 1024})), float, {0, 1, 3, 10});
  CHECK_VALUES(at::log10(make<float>({1, 10, 1000})), float, {0, 1, 3});
}

TEST(gelu) {
  const Tensor x = make<float>({-1, 0, 2});
  CHECK(at::allclose(at::gelu(x), make<float>({-0.15865525f, 0, 1.95449974f})));
  CHECK(at::allclose(at::gelu(x, "tanh"), make<float>({-0.15880801f, 0, 1.95459769f})));
}

TEST_MAIN()
