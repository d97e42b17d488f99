// Which values there are, and how often.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/Dimensions.h>

#include <algorithm>
#include <optional>

namespace at::native {

namespace {

Tensor to_tensor(const std::vector<int64_t>& numbers) {
  Tensor result = at::detail::empty({static_cast<int64_t>(numbers.size())}, kLong, kCPU);
  std::copy(numbers.begin(), numbers.end(), result.data_ptr<int64_t>());
  return result;
}

// Groups of equal rows: `order` (int64, on the CPU) sorts the rows, `starts` are the places in it where a group begins.
struct Groups {
  Tensor order;
  std::vector<int64_t> starts;

  // The number of the group of each row.
  Tensor inverse() const {
    Tensor result = at::detail::empty(order.sizes(), kLong, kCPU);
    int64_t* numbers = result.data_ptr<int64_t>();
    const int64_t* rows = order.data_ptr<int64_t>();
    for (size_t group = 0; group < starts.size(); ++group) {
      for (int64_t place = starts[group]; place < end(group); ++place)
        numbers[rows[place]] = static_cast<int64_t>(group);
    }
    return result;
  }
  // How many rows each group has.
  Tensor counts() const {
    std::vector<int64_t> sizes(starts.size());
    for (size_t group = 0; group < starts.size(); ++group) sizes[group] = end(group) - starts[group];
    return to_tensor(sizes);
  }
  // The row that each group begins with.
  Tensor first_rows() const {
    std::vector<int64_t> rows(starts.size());
    for (size_t group = 0; group < starts.size(); ++group) rows[group] = order.data_ptr<int64_t>()[starts[group]];
    return to_tensor(rows);
  }

 private:
  int64_t end(size_t group) const { return group + 1 < starts.size() ? starts[group + 1] : order.numel(); }
};

// Equal elements of a sorted vector. Each NaN is a group of its own, as NaN equals nothing.
Groups group_elements(const Tensor& sorted, const Tensor& order) {
  const Tensor local = at::detach(sorted).to(Device(kCPU));
  Groups groups{order.to(Device(kCPU)), {}};
  groups.starts.resize(static_cast<size_t>(local.numel()));
  size_t found = 0;
  dispatch_ordered_types(local.dtype(), "unique", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* values = local.data_ptr<scalar_t>();
    for (int64_t i = 0; i < local.numel(); ++i) {  // without a branch, which would often be foreseen wrongly
      groups.starts[found] = i;
      found += i == 0 || values[i] != values[i - 1];
    }
  });
  groups.starts.resize(found);
  return groups;
}

// Equal rows of a matrix.
Groups group_rows(const Tensor& matrix) {
  const Tensor local = at::detail::to_contiguous(matrix.to(Device(kCPU)));
  const int64_t rows = local.sizes()[0];
  const int64_t columns = local.sizes()[1];
  Groups groups{at::arange(rows, TensorOptions(kLong)), {}};
  int64_t* order = groups.order.data_ptr<int64_t>();
  dispatch_ordered_types(matrix.dtype(), "unique_dim", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* values = local.data_ptr<scalar_t>();
    std::stable_sort(order, order + rows, [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(values + a * columns, values + (a + 1) * columns, values + b * columns,
                                          values + (b + 1) * columns);
    });
    for (int64_t i = 0; i < rows; ++i) {
      const scalar_t* row = values + order[i] * columns;
      if (i == 0 || !std::equal(row, row + columns, values + order[i - 1] * columns)) groups.starts.push_back(i);
    }
  });
  return groups;
}

// The first `count` elements of a vector that was made for more; what lies behind them is given back if it is much.
Tensor shortened(const Tensor& values, int64_t count) {
  if (2 * count < values.numel()) return at::narrow(values, 0, 0, count).clone();
  c10::StorageImpl* const storage = values.storage().impl();
  storage->set_data(storage->take_data(), static_cast<size_t>(count) * values.element_size());  // files keep this much
  return at::detail::make_view(values, {count}, {1}, 0);
}

// Moves the first elements of the runs of equal ones to the front of `to`; returns how many there are. Four at a time,
// whose places wait for one sum.
template <typename T>
int64_t move_firsts(const T* from, T* to, int64_t count) {
  T last = to[0] = from[0];
  T* next = to + 1;
  int64_t i = 1;
  for (; i + 4 <= count; i += 4) {
    const T a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    const int64_t second = a != last;
    const int64_t third = second + (b != a);
    const int64_t fourth = third + (c != b);
    next[0] = a;
    next[second] = b;
    next[third] = c;
    next[fourth] = d;
    next += fourth + (d != c);
    last = d;
  }
  for (; i < count; ++i) {
    *next = from[i];
    next += from[i] != last;
    last = from[i];
  }
  return next - to;
}

// The first elements of the runs of equal ones in a dense vector on the CPU, the run of each element, in the shape
// `sizes`, and how long each is; empty vectors for what is not asked for. Loops without branches, which would often be
// foreseen wrongly: what no run begins with is written over.
std::tuple<Tensor, Tensor, Tensor> runs(const Tensor& values, IntArrayRef sizes, bool return_inverse,
                                        bool return_counts) {
  const int64_t count = values.numel();
  const TensorOptions options = TensorOptions(kLong);
  const Tensor firsts = at::detail::empty({count}, values.options());
  const Tensor inverse = at::detail::empty(return_inverse ? sizes : IntArrayRef({0}), options);
  const Tensor lengths = at::detail::empty({return_counts ? count : 0}, options);
  int64_t found = 0;
  dispatch_ordered_types(values.dtype(), "unique", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* const from = values.data_ptr<scalar_t>();
    scalar_t* const to = firsts.data_ptr<scalar_t>();
    const auto find_runs = [&](const auto& tell) {
      scalar_t last = to[0] = from[0];
      int64_t run = 0;
      int64_t begin = 0;
      for (int64_t i = 1; i < count; ++i) {
        const scalar_t value = from[i];
        const bool begins = value != last;
        to[run + 1] = value;
        run += begins;
        begin = begins ? i : begin;
        last = value;
        tell(i, run, begin);
      }
      found = run + 1;
    };
    int64_t* const run_of = inverse.data_ptr<int64_t>();
    int64_t* const length_of = lengths.data_ptr<int64_t>();
    if (return_inverse) run_of[0] = 0;
    if (return_counts) length_of[0] = 1;
    const auto tell_run = [=](int64_t i, int64_t run, int64_t /*begin*/) { run_of[i] = run; };
    const auto tell_length = [=](int64_t i, int64_t run, int64_t begin) { length_of[run] = i + 1 - begin; };
    const auto tell_both = [=](int64_t i, int64_t run, int64_t begin) {
      run_of[i] = run;
      length_of[run] = i + 1 - begin;
    };
    if (return_inverse && return_counts) find_runs(tell_both);
    else if (return_inverse) find_runs(tell_run);
    else if (return_counts) find_runs(tell_length);
    else found = move_firsts(from, to, count);
  });
  return {shortened(firsts, found), inverse, return_counts ? shortened(lengths, found) : lengths};
}

// Of types of one byte each value is counted, in its order.
std::tuple<Tensor, Tensor, Tensor> unique_bytes(const Tensor& self, bool return_inverse, bool return_counts) {
  constexpr int64_t kValues = 256;
  constexpr int64_t kTables = 4;  // neighbours are often alike
  const Tensor dense = at::detail::to_contiguous(at::detach(self));
  const int64_t count = dense.numel();
  const auto* const from = static_cast<const uint8_t*>(dense.data_ptr());
  const uint8_t flip = self.dtype() == kChar ? 0x80 : 0;  // from the order of signed bytes to that of unsigned ones
  int64_t tables[kTables][kValues] = {};
  for (int64_t i = 0; i < count; ++i) ++tables[i % kTables][from[i] ^ flip];
  std::vector<int64_t> counts;
  Tensor values = at::detail::empty({kValues}, self.options());
  int64_t group_of[kValues];
  for (int64_t value = 0; value < kValues; ++value) {
    const int64_t number = tables[0][value] + tables[1][value] + tables[2][value] + tables[3][value];
    group_of[value ^ flip] = static_cast<int64_t>(counts.size());
    if (number == 0) continue;
    static_cast<uint8_t*>(values.data_ptr())[counts.size()] = static_cast<uint8_t>(value ^ flip);
    counts.push_back(number);
  }
  const Tensor inverse = at::detail::empty(return_inverse ? self.sizes() : IntArrayRef({0}), kLong, kCPU);
  if (return_inverse) {
    int64_t* const groups = inverse.data_ptr<int64_t>();
    for (int64_t i = 0; i < count; ++i) groups[i] = group_of[from[i]];
  }
  return {at::narrow(values, 0, 0, static_cast<int64_t>(counts.size())).clone(), inverse,
          return_counts ? to_tensor(counts) : at::empty({0}, TensorOptions(kLong))};
}

// Of integers that lie close to each other, each value between the least and the greatest is counted, in its order;
// nothing of others.
std::optional<std::tuple<Tensor, Tensor, Tensor>> unique_of_close(const Tensor& self, bool return_inverse,
                                                                  bool return_counts) {
  const bool is_counted = self.dtype() == kShort || self.dtype() == kInt || self.dtype() == kLong;
  if (!self.is_cpu() || !is_counted || self.numel() == 0) return std::nullopt;
  const Tensor dense = at::detail::to_contiguous(self);
  const int64_t count = dense.numel();
  const auto [smallest, greatest] = at::aminmax(dense);
  const int64_t least = smallest.item().toLong();
  const uint64_t distance = static_cast<uint64_t>(greatest.item().toLong()) - static_cast<uint64_t>(least);
  if (distance >= 2 * static_cast<uint64_t>(count)) return std::nullopt;
  const Tensor inverse = at::detail::empty(return_inverse ? self.sizes() : IntArrayRef({0}), kLong, kCPU);
  std::vector<int64_t> table(distance + 1);
  std::vector<int64_t> counts;
  Tensor values = at::detail::empty({std::min(count, static_cast<int64_t>(table.size()))}, self.options());
  dispatch_integral_types(dense.dtype(), "unique", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const scalar_t* const from = dense.data_ptr<scalar_t>();
    scalar_t* const to = values.data_ptr<scalar_t>();
    for (int64_t i = 0; i < count; ++i) ++table[static_cast<size_t>(from[i] - least)];
    int64_t found = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      const int64_t number = table[i];
      if (number == 0) continue;
      to[found] = static_cast<scalar_t>(least + static_cast<int64_t>(i));
      if (return_counts) counts.push_back(number);
      table[i] = found++;
    }
    values = shortened(values, found);
    int64_t* const group_of = inverse.data_ptr<int64_t>();
    for (int64_t i = 0; return_inverse && i < count; ++i) group_of[i] = table[static_cast<size_t>(from[i] - least)];
  });
  return std::tuple(values, inverse, to_tensor(counts));
}

}  // namespace

// The values are selected from the sorted ones, so that gradients flow to where each was found first.
std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool /*sorted*/, bool return_inverse,
                                            bool return_counts) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "\"unique\" not implemented for '", self.dtype(), "'");
  if (self.is_cpu() && self.element_size() == 1) return unique_bytes(self, return_inverse, return_counts);
  if (auto found = unique_of_close(self, return_inverse, return_counts)) return *found;
  const auto [sorted, order] = at::sort(at::reshape(self, {self.numel()}));
  const Groups groups = group_elements(sorted, order);
  const TensorOptions options = TensorOptions(kLong).device(self.device());
  return {at::index_select(sorted, 0, to_tensor(groups.starts).to(self.device())),
          return_inverse ? groups.inverse().to(self.device()).view(self.sizes()) : at::empty({0}, options),
          return_counts ? groups.counts().to(self.device()) : at::empty({0}, options)};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool return_inverse,
                                              bool return_counts) {
  TORCH_CHECK(self.dim() > 0, "unique_dim: a tensor without dimensions has no slices to compare");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[dim];
  const Tensor slices = at::movedim(at::detach(self), dim, 0);
  TORCH_CHECK(size == 0 || self.numel() > 0,
              "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Groups groups = group_rows(at::reshape(slices, {size, size == 0 ? 0 : self.numel() / size}));
  const TensorOptions options = TensorOptions(kLong).device(self.device());
  return {at::movedim(at::index_select(at::movedim(self, dim, 0), 0, groups.first_rows().to(self.device())), 0, dim),
          return_inverse ? groups.inverse().to(self.device()) : at::empty({0}, options),
          return_counts ? groups.counts().to(self.device()) : at::empty({0}, options)};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                                      std::optional<int64_t> dim) {
  const Tensor input = at::detach(self);
  const TensorOptions options = TensorOptions(kLong).device(self.device());
  const Tensor none = at::empty({0}, options);
  const Tensor rows =
      dim ? at::movedim(self.dim() > 0 ? input : at::reshape(input, {1}), *dim, 0) : at::reshape(input, {-1});
  const int64_t count = rows.sizes()[0];
  if (!dim && count > 0 && input.is_cpu() && !input.is_complex()) {
    return runs(at::detail::to_contiguous(rows), self.sizes(), return_inverse, return_counts);
  }
  if (count == 0) return {at::empty(dim ? self.sizes() : IntArrayRef({0}), self.options()), none, none};
  TORCH_CHECK(rows.numel() > 0, "unique_consecutive: There are sections with 0 elements");
  // A group begins where a row differs from the one before.
  const Tensor flat = at::reshape(rows, {count, -1});
  const Tensor differs = at::any(at::ne(at::narrow(flat, 0, 1, count - 1), at::narrow(flat, 0, 0, count - 1)), 1);
  const Tensor begins = at::cat({at::ones({1}, options.dtype(kBool)), differs}, 0);
  const Tensor places = at::reshape(at::nonzero(begins), {-1});
  Tensor output = at::index_select(rows, 0, places);
  if (dim) output = at::movedim(output, 0, *dim);
  Tensor inverse = none;
  if (return_inverse) {
    inverse = at::cumsum(begins.to(kLong), 0) - 1;
    if (!dim) inverse = at::reshape(inverse, self.sizes());
  }
  const Tensor ends = at::cat({places, at::full({1}, Scalar(count), options)}, 0);
  return {output, inverse, return_counts ? at::diff(ends) : none};
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK_NOT_IMPLEMENTED(c10::is_integral_type(self.dtype(), /*include_bool=*/false),
                              "\"bincount_cpu\" not implemented for '", self.dtype(), "'");
  TORCH_CHECK(!weights.defined() || (weights.dim() == 1 && weights.sizes()[0] == self.sizes()[0]),
              "weights should be 1-d and have the same length as input");
  const Tensor numbers = at::detail::to_contiguous(self.to(Device(kCPU)));
  const int64_t count = numbers.numel();
  // body(numbers) in their own type
  const auto with_numbers = [&](auto&& body) {
    dispatch_integral_types(numbers.dtype(), "bincount_cpu", [&](auto type) {
      body(numbers.data_ptr<typename decltype(type)::type>());
    });
  };
  int64_t size = minlength;
  if (count > 0) {
    const auto [least, greatest] = at::aminmax(numbers);
    TORCH_CHECK(least.item().toLong() >= 0, "bincount only supports 1-d non-negative integral inputs.");
    size = std::max(size, greatest.item().toLong() + 1);
  }
  // Weights of float32 are summed in float32, all others in float64.
  const ScalarType dtype = !weights.defined() ? kLong : weights.dtype() == kFloat ? kFloat : kDouble;
  const Tensor result = at::zeros({size}, TensorOptions(dtype));
  if (!weights.defined()) {
    int64_t* counts = result.data_ptr<int64_t>();
    constexpr int64_t kTables = 4;  // neighbours are often alike, and would wait for each other
    std::vector<int64_t> tables(size * 64 <= count ? (kTables - 1) * size : 0);
    with_numbers([&](const auto* number) {
      int64_t i = 0;
      for (; !tables.empty() && i + kTables <= count; i += kTables) {
        ++counts[number[i]];
        for (int64_t table = 1; table < kTables; ++table) ++tables[(table - 1) * size + number[i + table]];
      }
      for (; i < count; ++i) ++counts[number[i]];
    });
    for (size_t place = 0; place < tables.size(); ++place) counts[static_cast<int64_t>(place) % size] += tables[place];
  } else {
    const Tensor local = at::detail::to_contiguous(at::detail::to_dtype(at::detach(weights), dtype).to(Device(kCPU)));
    dispatch_floating_types(dtype, "bincount", [&](auto type) {
      using scalar_t = typename decltype(type)::type;
      scalar_t* sums = result.data_ptr<scalar_t>();
      const scalar_t* weight = local.data_ptr<scalar_t>();
      with_numbers([&](const auto* number) {
        for (int64_t i = 0; i < count; ++i) sums[number[i]] += weight[i];
      });
    });
  }
  return result.to(self.device());
}

}  // namespace at::native
