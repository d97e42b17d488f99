// Sums, means and maxima of bags of rows: on the CPU in one pass, elsewhere by functions of all rows looked up.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/NativeFunctions.h>
#include <aten/native/EmbeddingBag.h>
#include <aten/native/cpu/FusedForward.h>

#include <algorithm>

namespace at::native {

namespace {

struct BagResult {
  Tensor bags;
  Tensor rows;  // max: where each maximum stands
};

void check_indices(const Tensor& indices, const char* name, int place) {
  TORCH_CHECK(indices.dtype() == kLong || indices.dtype() == kInt, "Expected tensor for argument #", place, " '", name,
              "' to have one of the following scalar types: Long, Int; but got torch.", indices.dtype(),
              "Tensor instead (while checking arguments for embedding_bag)");
}

void check_offsets(const Tensor& offsets, int64_t bags, int64_t count) {
  if (bags == 0 || offsets.is_meta()) return;
  const auto first = offsets.select(0, 0).item<int64_t>();
  TORCH_CHECK(first == 0, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from ",
              "position 0. However, got ", first);
  const auto last = offsets.select(0, -1).item<int64_t>();
  TORCH_CHECK(last <= count, "offsets[-1] can not be greater than input's length(", count,
              ") but got offsets[-1] of ", last);
}

BagResult compute_bags(const Tensor& weight, const Tensor& indices, const cpu::Bags& bags, BagMode mode,
                       const Tensor& factors) {
  TORCH_CHECK_INDEX(cpu::are_rows(bags.indices, indices.numel(), weight.sizes()[0]), "index out of range in self");
  const Tensor table = weight.contiguous();
  BagResult result;
  result.bags = at::detail::empty({bags.count(), weight.sizes()[1]}, weight.dtype(), weight.device());
  if (mode == BagMode::max) {
    result.rows = at::detail::empty(result.bags.sizes(), kLong, weight.device());
    cpu::max_bags(result.bags, result.rows, table, bags);
  } else {
    cpu::sum_bags(result.bags, table, bags, factors.defined() ? factors.contiguous() : Tensor(),
                  mode == BagMode::mean);
  }
  return result;
}

BagResult compose_bags(const Tensor& weight, const Tensor& indices, const Tensor& owners, int64_t bags, BagMode mode,
                       const Tensor& factors, int64_t padding_idx) {
  BagResult result;
  Tensor places = indices;
  Tensor homes = owners;
  Tensor scales = factors;
  if (padding_idx >= 0) {
    const Tensor kept = at::nonzero(indices.ne(padding_idx)).select(1, 0);
    places = indices.index_select(0, kept);
    homes = owners.index_select(0, kept);
    if (factors.defined()) scales = factors.index_select(0, kept);
  }
  Tensor found = weight.index_select(0, places);
  const int64_t columns = weight.sizes()[1];
  if (mode == BagMode::max) {
    result.bags = at::zeros({bags, columns}, weight.options())
                      .index_reduce(0, homes, found, "amax", /*include_self=*/false);
    // The first index of a bag whose row has the maximum, column by column.
    const int64_t count = places.numel();
    const Tensor numbers = at::arange(count, places.options().dtype(kLong)).unsqueeze(1);
    const Tensor matches = found.eq(result.bags.index_select(0, homes));
    const Tensor firsts =
        at::full({bags, columns}, count, numbers.options())
            .index_reduce(0, homes, at::where(matches, numbers, Scalar(count)), "amin");
    result.rows = at::cat({places.to(kLong), at::zeros({1}, numbers.options())}).index_select(0, firsts.reshape({-1}));
    result.rows = result.rows.view({bags, columns});
    return result;
  }
  if (c10::is_reduced_floating_type(weight.dtype())) found = found.to(kFloat);  // sums are rounded once
  if (scales.defined()) found = found.mul(scales.unsqueeze(1));
  Tensor sums = at::zeros({bags, columns}, found.options()).index_add(0, homes, found);
  if (mode == BagMode::mean) {
    const Tensor sizes = at::bincount(homes, {}, bags).clamp_min(Scalar(1));
    sums = sums.div(sizes.to(sums.dtype()).unsqueeze(1));
  }
  result.bags = sums.to(weight.dtype());
  return result;
}

}  // namespace

Tensor owners_of_bags(const Tensor& indices, const Tensor& offsets, bool include_last_offset) {
  const int64_t count = indices.numel();
  if (!offsets.is_cpu() || is_dispatched()) {
    const Tensor starts = offsets.narrow(0, 0, offsets.numel() - (include_last_offset ? 1 : 0)).contiguous();
    return at::searchsorted(starts, at::arange(count, offsets.options()), /*out_int32=*/false, /*right=*/true).sub(1);
  }
  const cpu::Bags bags = bags_of(indices, offsets, include_last_offset, -1);
  const Tensor owners = at::detail::empty({count}, kLong, indices.device());
  for (int64_t bag = 0; bag < bags.count(); ++bag) {
    std::fill(owners.data_ptr<int64_t>() + bags.starts[bag], owners.data_ptr<int64_t>() + bags.starts[bag + 1], bag);
  }
  return owners;
}

bool has_bag_kernels(const Tensor& table, const Tensor& factors) {
  return table.is_cpu() && table.is_floating_point() && (!factors.defined() || factors.dtype() == table.dtype());
}

cpu::Bags bags_of(const Tensor& indices, const Tensor& offsets, bool include_last_offset, int64_t padding_idx) {
  const int64_t count = indices.numel();
  const Tensor starts = offsets.to(kLong).contiguous();
  const int64_t bags = starts.numel() - (include_last_offset ? 1 : 0);
  cpu::Bags result{indices.dtype() == kLong ? indices.data_ptr<int64_t>() : nullptr, {}, padding_idx};
  result.starts.resize(static_cast<size_t>(bags) + 1);
  const int64_t* const start_of = starts.data_ptr<int64_t>();
  int64_t last = 0;  // offsets that are out of order make empty bags
  for (int64_t bag = 0; bag < bags; ++bag) {
    const int64_t start = start_of[bag];
    last = start < last ? last : std::min(start, count);
    result.starts[static_cast<size_t>(bag)] = last;
  }
  result.starts.back() = bags > 0 ? count : 0;
  return result;
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag(const Tensor& weight, const Tensor& indices,
                                                          const Tensor& offsets, bool /*scale_grad_by_freq*/,
                                                          int64_t mode, bool sparse, const Tensor& per_sample_weights,
                                                          bool include_last_offset, int64_t padding_idx) {
  TORCH_CHECK(mode >= 0 && mode <= 2, "`mode` must be sum, mean, or max.");
  const auto how = static_cast<BagMode>(mode);
  TORCH_CHECK(weight.dim() == 2 && indices.dim() == 1 && offsets.dim() == 1,
              "embedding_bag: expected a 2-D table, 1-D indices and 1-D offsets, but got ", weight.dim(), ", ",
              indices.dim(), " and ", offsets.dim(), " dimensions");
  check_indices(indices, "indices", 2);
  check_indices(offsets, "offsets", 3);
  TORCH_CHECK(!sparse || how != BagMode::max, "embedding_bag: max mode has no sparse gradients");
  TORCH_CHECK(!per_sample_weights.defined() || (how == BagMode::sum && per_sample_weights.sizes() == indices.sizes()),
              "embedding_bag: per_sample_weights are one for each index, and for mode='sum' only");
  TORCH_CHECK(offsets.numel() > 0 || !include_last_offset,
              "include_last_offset: number of offset should be at least 1");
  const int64_t count = offsets.numel() - (include_last_offset ? 1 : 0);
  check_offsets(offsets, count, indices.numel());
  const auto sizes = [&] { return at::zeros({count}, indices.options()); };
  BagResult result;
  if (weight.is_meta()) {
    result.bags = at::detail::empty({count, weight.sizes()[1]}, weight.dtype(), weight.device());
    if (how == BagMode::max) result.rows = at::detail::empty(result.bags.sizes(), kLong, weight.device());
    const Tensor owners = at::detail::empty({how == BagMode::sum ? 0 : indices.numel()}, indices.dtype(),
                                            weight.device());
    return {result.bags, owners, sizes(), how == BagMode::max ? result.rows : sizes()};
  }
  if (has_bag_kernels(weight, per_sample_weights)) {
    const Tensor places = indices.to(kLong).contiguous();
    const cpu::Bags bags = bags_of(places, offsets, include_last_offset, padding_idx);
    result = compute_bags(weight, places, bags, how, per_sample_weights);
    // PyTorch has no more of sums.
    if (how == BagMode::sum) return {result.bags, at::detail::empty({0}, indices.dtype(), kCPU), sizes(), sizes()};
    const Tensor counted = at::detail::empty({count}, kLong, kCPU);
    for (int64_t bag = 0; bag < count; ++bag) {
      const auto in_bag = [&](int64_t place) { return places.data_ptr<int64_t>() + place; };
      const int64_t begin = bags.starts[bag];
      const int64_t end = bags.starts[bag + 1];
      const auto padding = padding_idx < 0 ? 0 : std::count(in_bag(begin), in_bag(end), padding_idx);
      counted.data_ptr<int64_t>()[bag] = end - begin - padding;
    }
    const Tensor bag_size = counted.to(indices.dtype());
    return {result.bags, owners_of_bags(places, offsets, include_last_offset).to(indices.dtype()), bag_size,
            how == BagMode::max ? result.rows.to(indices.dtype()) : bag_size.clone()};
  }
  const Tensor owners = owners_of_bags(indices, offsets, include_last_offset);
  result = compose_bags(weight, indices, owners, count, how, per_sample_weights, padding_idx);
  if (how == BagMode::sum) return {result.bags, at::empty({0}, indices.options()), sizes(), sizes()};
  const Tensor counted = padding_idx < 0 ? owners : owners.masked_select(indices.ne(padding_idx));
  const Tensor bag_size = at::bincount(counted, {}, count).to(indices.dtype());
  return {result.bags, owners.to(indices.dtype()), bag_size,
          how == BagMode::max ? result.rows.to(indices.dtype()) : bag_size.clone()};
}

}  // namespace at::native
