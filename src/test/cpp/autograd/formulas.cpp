// Every formula of derivatives.yaml against central differences: one row per operator and way of calling it. Those of
// neural networks are in formulas_nn.cpp.

#include "formulas.h"

using namespace formulas;

TEST(element_by_element) {
  run({
      UNARY(neg, -2, 2),
      UNARY(abs, -2, 2),
      UNARY(sign, -2, 2),
      UNARY(floor, -2, 2),
      UNARY(ceil, -2, 2),
      UNARY(round, -2, 2),
      UNARY(trunc, -2, 2),
      UNARY(reciprocal, 0.5, 2),
      UNARY(square, -2, 2),
      UNARY(exp, -2, 2),
      UNARY(expm1, -2, 2),
      UNARY(log, 0.5, 3),
      UNARY(log2, 0.5, 3),
      UNARY(log10, 0.5, 3),
      UNARY(log1p, -0.5, 3),
      UNARY(sqrt, 0.5, 3),
      UNARY(rsqrt, 0.5, 3),
      UNARY(sin, -2, 2),
      UNARY(cos, -2, 2),
      UNARY(tanh, -2, 2),
      UNARY(erf, -2, 2),
      UNARY(sigmoid, -2, 2),
      UNARY(relu, -2, 2),
      UNARY(clone, -2, 2),
      ROW("gelu", INPUTS(values({2, 3})), at::gelu(x[0])),
      ROW("gelu tanh", INPUTS(values({2, 3})), at::gelu(x[0], "tanh")),
      ROW("leaky_relu", INPUTS(values({2, 3})), at::leaky_relu(x[0], 0.2)),
      ROW("clamp", INPUTS(values({2, 4})), at::clamp(x[0], -1, 1.0)),
      ROW("clamp min", INPUTS(values({2, 4})), at::clamp(x[0], 0.1)),
      ROW("clamp by tensors", INPUTS(values({2, 4}), values({4}, -1, 0), values({2, 1}, 0, 1)),
          at::clamp(x[0], x[1], x[2])),
      ROW("clamp min by a tensor", INPUTS(values({2, 4}), values({4}, -1, 0)), at::clamp(x[0], x[1], Tensor())),
      ROW("clamp max by a tensor", INPUTS(values({2, 4}), values({4}, 0, 1)), at::clamp(x[0], Tensor(), x[1])),
      ROW("clamp max", INPUTS(values({2, 4})), at::clamp(x[0], std::nullopt, 0.1)),
      ROW("sigmoid_backward", INPUTS(values({3}), values({3}, 0.1, 0.9)), at::sigmoid_backward(x[0], x[1])),
      ROW("tanh_backward", INPUTS(values({3}), values({3}, -0.9, 0.9)), at::tanh_backward(x[0], x[1])),
      ROW("threshold_backward", INPUTS(values({3}), values({3}, -1, 1)), at::threshold_backward(x[0], x[1], 0)),
      ROW("gelu_backward", INPUTS(values({3}), values({3}, -1, 1)), at::gelu_backward(x[0], x[1])),
      ROW("tril", INPUTS(values({3, 3})), at::tril(x[0], -1)),
      ROW("triu", INPUTS(values({3, 3})), at::triu(x[0], 1)),
      ROW("_to_copy", INPUTS(values({3})), at::_to_copy(x[0], at::kDouble)),
  });
}

TEST(more_functions) {
  run({
      UNARY(tan, -1, 1),
      UNARY(acos, -0.9, 0.9),
      UNARY(acosh, 1.2, 3),
      UNARY(asin, -0.9, 0.9),
      UNARY(asinh, -2, 2),
      UNARY(atan, -2, 2),
      UNARY(atanh, -0.9, 0.9),
      UNARY(cosh, -2, 2),
      UNARY(sinh, -2, 2),
      UNARY(exp2, -2, 2),
      UNARY(sinc, 0.2, 2),
      UNARY(digamma, 0.5, 3),
      UNARY(erfc, -2, 2),
      UNARY(erfinv, -0.8, 0.8),
      UNARY(i0, -2, 2),
      UNARY(lgamma, 0.5, 3),
      UNARY(frac, 1.1, 1.9),
      UNARY(special_entr, 0.2, 2),
      UNARY(special_erfcx, -1, 2),
      UNARY(special_i0e, 0.2, 2),
      UNARY(special_i1, 0.2, 2),
      UNARY(special_i1e, 0.2, 2),
      UNARY(special_log_ndtr, -2, 2),
      UNARY(special_ndtri, 0.1, 0.9),
      ROW("polygamma", INPUTS(values({3}, 0.5, 3)), at::polygamma(2, x[0])),
      ROW("atan2", INPUTS(values({3}, 0.5, 2), values({3}, 0.5, 2)), at::atan2(x[0], x[1])),
      ROW("copysign", INPUTS(values({3}, 0.5, 2), values({3}, -2, 2)), at::copysign(x[0], x[1])),
      ROW("hypot", INPUTS(values({3}, 0.5, 2), values({3}, 0.5, 2)), at::hypot(x[0], x[1])),
      ROW("nextafter", INPUTS(values({3}, 0.5, 2), values({3}, 3, 4)), at::nextafter(x[0], x[1])),
      ROW("logaddexp", INPUTS(values({3}), values({3}, -1, 1)), at::logaddexp(x[0], x[1])),
      ROW("logaddexp2", INPUTS(values({3}), values({3}, -1, 1)), at::logaddexp2(x[0], x[1])),
      ROW("fmax", INPUTS(values({3}), values({3}, -1, 1)), at::fmax(x[0], x[1])),
      ROW("fmin", INPUTS(values({3}), values({3}, -1, 1)), at::fmin(x[0], x[1])),
      ROW("fmod", INPUTS(values({3}, 3, 3.9), values({3}, 1.4, 1.9)), at::fmod(x[0], x[1])),
      ROW("xlogy", INPUTS(values({3}, 0.5, 2), values({3}, 0.5, 2)), at::xlogy(x[0], x[1])),
      ROW("xlog1py", INPUTS(values({3}, 0.5, 2), values({3}, 0.5, 2)), at::special_xlog1py(x[0], x[1])),
      {"igamma", {values({3}, 0.5, 2)}, [](const Tensors& x) { return at::igamma(values({3}, 1, 2), x[0]); }},
      {"igammac", {values({3}, 0.5, 2)}, [](const Tensors& x) { return at::igammac(values({3}, 1, 2), x[0]); }},
      {"zeta", {values({3}, 0.5, 2)}, [](const Tensors& x) { return at::special_zeta(values({3}, 2, 3), x[0]); }},
      ROW("cumprod", INPUTS(values({2, 3}, 0.5, 2)), at::cumprod(x[0], 1)),
      ROW("logcumsumexp", INPUTS(values({2, 3})), at::logcumsumexp(x[0], 1)),
      ROW("cummax", INPUTS(values({2, 3})), std::get<0>(at::cummax(x[0], 1))),
      ROW("cummin", INPUTS(values({2, 3})), std::get<0>(at::cummin(x[0], 0))),
      ROW("kthvalue", INPUTS(values({2, 5})), std::get<0>(at::kthvalue(x[0], 2, 1))),
      ROW("mode", INPUTS(values({2, 3})), std::get<0>(at::mode(x[0], 1))),
  });
}

TEST(cumprod_with_zeros) {
  Tensor zeros = values({2, 4});
  zeros.data_ptr<double>()[1] = 0;
  zeros.data_ptr<double>()[6] = 0;
  run({ROW("cumprod", INPUTS(zeros), at::cumprod(x[0], 1))});
}

TEST(values_put_together) {
  const Tensor index = integers({0, 1, 0, 2, 2, 1}, {2, 3});
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      run({{"scatter_reduce", {values({3, 3}, 0.5, 2), values({2, 3}, 0.6, 1.9)}, [&](const Tensors& x) {
              return at::scatter_reduce(x[0], 0, index, x[1], reduce, include_self);
            }}});
    }
  }
}

TEST(distances) {
  for (const double power : {1.0, 2.0, 3.0}) {
    run({
        {"cdist", {values({3, 2}, 1, 2), values({4, 2}, -1, 0)}, [&](const Tensors& x) {
           return at::_cdist_forward(x[0], x[1], power, std::nullopt);
         }},
        {"pdist", {values({4, 2}, 0.5, 3)}, [&](const Tensors& x) { return at::_pdist_forward(x[0], power); }},
    });
  }
}

TEST(arithmetic) {
  run({
      ROW("add", INPUTS(values({2, 3}), values({3}, 1, 2)), at::add(x[0], x[1], 0.5)),
      ROW("add of a number", INPUTS(values({2, 3})), at::add(x[0], 2.5)),
      ROW("sub", INPUTS(values({2, 1}), values({2, 3}, 1, 2)), at::sub(x[0], x[1], 2)),
      ROW("rsub", INPUTS(values({2, 3}), values({3}, 1, 2)), at::rsub(x[0], x[1], 2)),
      ROW("mul", INPUTS(values({2, 3}), values({3}, 1, 2)), at::mul(x[0], x[1])),
      ROW("mul with itself", INPUTS(values({2, 3})), x[0] * x[0]),
      ROW("div", INPUTS(values({2, 3}), values({3}, 1, 2)), x[0] / x[1]),
      ROW("div floor", INPUTS(values({2, 3}), values({3}, 1, 2)), at::div(x[0], x[1], "floor")),
      ROW("floor_divide", INPUTS(values({2, 3}), values({3}, 1, 2)), at::floor_divide(x[0], x[1])),
      ROW("remainder", INPUTS(values({2, 3}, 3, 5), values({3}, 1, 2)), at::remainder(x[0], x[1])),
      ROW("pow", INPUTS(values({2, 3}, 0.5, 2), values({3}, 1, 3)), at::pow(x[0], x[1])),
      ROW("pow 3", INPUTS(values({2, 3})), at::pow(x[0], 3)),
      ROW("pow 2", INPUTS(values({2, 3})), at::pow(x[0], 2)),
      ROW("pow 1", INPUTS(values({2, 3})), at::pow(x[0], 1)),
      ROW("pow 0", INPUTS(values({2, 3})), at::pow(x[0], 0)),
      ROW("pow -0.5", INPUTS(values({2, 3}, 0.5, 2)), at::pow(x[0], -0.5)),
      ROW("pow of a number", INPUTS(values({2, 3})), at::pow(2.5, x[0])),
      ROW("maximum", INPUTS(values({2, 3}), values({3}, -1, 1)), at::maximum(x[0], x[1])),
      ROW("minimum", INPUTS(values({2, 3}), values({3}, -1, 1)), at::minimum(x[0], x[1])),
      ROW("addcmul", INPUTS(values({2, 3}), values({3}), values({2, 1}, 1, 2)),
          at::addcmul(x[0], x[1], x[2], 0.5)),
      ROW("addcdiv", INPUTS(values({2, 3}), values({3}), values({2, 1}, 1, 2)),
          at::addcdiv(x[0], x[1], x[2], 0.5)),
      ROW("lerp", INPUTS(values({2, 3}), values({3})), at::lerp(x[0], x[1], 0.3)),
      ROW("lerp by weights", INPUTS(values({2, 3}), values({3}), values({2, 1})), at::lerp(x[0], x[1], x[2])),
      ROW("where", INPUTS(values({2, 3}), values({3}, 1, 2)), at::where(mask_of({2, 3}), x[0], x[1])),
      ROW("where with a number", INPUTS(values({2, 3})), at::where(mask_of({2, 3}), x[0], 3)),
  });
}

TEST(reductions) {
  run({
      ROW("sum", INPUTS(values({2, 3})), at::sum(x[0])),
      ROW("sum dim", INPUTS(values({2, 3, 2})), at::sum(x[0], {0, -1})),
      ROW("sum keepdim", INPUTS(values({2, 3})), at::sum(x[0], 1, true)),
      ROW("sum of nothing named", INPUTS(values({2, 3})), at::sum(x[0], std::nullopt, true)),
      ROW("sum 0-dim", INPUTS(values({})), at::sum(x[0], 0)),
      ROW("mean", INPUTS(values({2, 3})), at::mean(x[0])),
      ROW("mean dim", INPUTS(values({2, 3, 2})), at::mean(x[0], {0, 2})),
      ROW("mean keepdim", INPUTS(values({2, 3})), at::mean(x[0], -1, true)),
      ROW("prod", INPUTS(values({2, 3}, 0.5, 2)), at::prod(x[0])),
      ROW("prod dim", INPUTS(values({2, 3}, 0.5, 2)), at::prod(x[0], 1)),
      ROW("prod dim keepdim", INPUTS(values({2, 3}, 0.5, 2)), at::prod(x[0], 0, true)),
      ROW("var", INPUTS(values({2, 3})), at::var(x[0])),
      ROW("var dim", INPUTS(values({2, 3})), at::var(x[0], 1)),
      ROW("std", INPUTS(values({2, 3})), at::std(x[0])),
      ROW("amax", INPUTS(values({2, 3})), at::amax(x[0])),
      ROW("amax dim", INPUTS(values({2, 3})), at::amax(x[0], 1)),
      ROW("amin keepdim", INPUTS(values({2, 3})), at::amin(x[0], 0, true)),
      ROW("max", INPUTS(values({2, 3})), at::max(x[0])),
      ROW("min", INPUTS(values({2, 3})), at::min(x[0])),
      ROW("max dim", INPUTS(values({2, 3})), std::get<0>(at::max(x[0], 1))),
      ROW("min dim keepdim", INPUTS(values({2, 3})), std::get<0>(at::min(x[0], 0, true))),
      ROW("logsumexp", INPUTS(values({2, 3})), at::logsumexp(x[0], 1)),
      ROW("norm", INPUTS(values({2, 3})), at::norm(x[0])),
      ROW("norm 1", INPUTS(values({2, 3})), at::norm(x[0], std::optional<at::Scalar>(1), {1}, false)),
      ROW("norm 3", INPUTS(values({2, 3})), at::norm(x[0], std::optional<at::Scalar>(3), {0}, true)),
      ROW("norm 1.5", INPUTS(values({2, 3})), at::norm(x[0], std::optional<at::Scalar>(1.5), {-1}, false)),
      ROW("norm 0.5", INPUTS(values({2, 3})), at::norm(x[0], std::optional<at::Scalar>(0.5), {1}, false)),
      ROW("cumsum", INPUTS(values({2, 3})), at::cumsum(x[0], 1)),
      ROW("sort", INPUTS(values({2, 3})), std::get<0>(at::sort(x[0], 1, true))),
      ROW("median", INPUTS(values({2, 4})), std::get<0>(at::median(x[0], 1))),
      ROW("median of all", INPUTS(values({2, 4})), at::median(x[0])),
      ROW("topk", INPUTS(values({2, 4})), std::get<0>(at::topk(x[0], 2, 1))),
  });
}

TEST(prod_with_zeros) {
  Tensor one_zero = values({3}, 0.5, 2);
  one_zero.data_ptr<double>()[1] = 0;
  Tensor two_zeros = one_zero.clone();
  two_zeros.data_ptr<double>()[0] = 0;
  run({
      {"one zero", {one_zero}, [](const Tensors& x) { return at::prod(x[0]); }, false},
      {"two zeros", {two_zeros}, [](const Tensors& x) { return at::prod(x[0]); }, false},
      {"one zero, dim", {one_zero.clone()}, [](const Tensors& x) { return at::prod(x[0], 0); }, false},
  });
}

TEST(matrices) {
  run({
      ROW("mm", INPUTS(values({2, 3}), values({3, 4}, 1, 2)), at::mm(x[0], x[1])),
      ROW("mm transposed", INPUTS(values({3, 2}), values({4, 3}, 1, 2)), at::mm(x[0].t(), x[1].t())),
      ROW("convolution", INPUTS(values({2, 2, 4, 3}), values({4, 1, 2, 2}), values({4})),
          at::convolution(x[0], x[1], x[2], {2, 1}, {1, 0}, {1, 2}, false, {0, 0}, 2)),
      ROW("convolution, transposed", INPUTS(values({1, 2, 3}), values({2, 2, 2}), values({2})),
          at::convolution(x[0], x[1], x[2], {2}, {1}, {3}, true, {2}, 1)),
      ROW("_convolution_weight_gradient", INPUTS(values({1, 2, 2, 3}), values({1, 1, 3, 4})),
          at::_convolution_weight_gradient(x[0], x[1], {2, 1, 2, 2}, {1}, {0}, {1}, 1)),
      ROW("bmm", INPUTS(values({2, 2, 3}), values({2, 3, 2}, 1, 2)), at::bmm(x[0], x[1])),
      ROW("addmm", INPUTS(values({4}), values({2, 3}), values({3, 4}, 1, 2)),
          at::addmm(x[0], x[1], x[2], 0.5, 2)),
      ROW("matmul", INPUTS(values({2, 2, 3}), values({3, 2}, 1, 2)), at::matmul(x[0], x[1])),
      ROW("dot", INPUTS(values({3}), values({3}, 1, 2)), at::dot(x[0], x[1])),
      ROW("mv", INPUTS(values({2, 3}), values({3}, 1, 2)), at::mv(x[0], x[1])),
      ROW("outer", INPUTS(values({2}), values({3}, 1, 2)), at::outer(x[0], x[1])),
      ROW("linear", INPUTS(values({2, 3}), values({4, 3}), values({4})), at::linear(x[0], x[1], x[2])),
  });
}

TEST(shapes) {
  run({
      ROW("view", INPUTS(values({2, 6})), x[0].view({3, 4})),
      ROW("reshape", INPUTS(values({2, 6})), x[0].t().reshape({4, 3})),
      ROW("expand", INPUTS(values({2, 1})), x[0].expand({3, 2, 4})),
      ROW("permute", INPUTS(values({2, 3, 4})), x[0].permute({2, 0, -2})),
      ROW("transpose", INPUTS(values({2, 3, 2})), x[0].transpose(0, -2)),
      ROW("t", INPUTS(values({2, 3})), x[0].t()),
      ROW("squeeze", INPUTS(values({1, 3, 1})), x[0].squeeze()),
      ROW("squeeze dim", INPUTS(values({1, 3, 1})), x[0].squeeze(-1)),
      ROW("alias", INPUTS(values({3})), at::alias(x[0])),
      ROW("unsqueeze", INPUTS(values({3})), x[0].unsqueeze(1)),
      ROW("select", INPUTS(values({2, 3})), x[0].select(1, -1)),
      ROW("slice", INPUTS(values({5, 2})), x[0].slice(0, 1, -1, 2)),
      ROW("diagonal", INPUTS(values({3, 4})), x[0].diagonal(1)),
      ROW("unfold", INPUTS(values({5})), x[0].unfold(0, 3, 1)),
      ROW("unfold inside", INPUTS(values({2, 5, 2})), x[0].unfold(1, 2, 2)),
      ROW("as_strided", INPUTS(values({6})), x[0].as_strided({2, 2}, {3, 1}, 1)),
      ROW("as_strided over itself", INPUTS(values({6})), x[0].as_strided({3, 3}, {1, 1})),
      ROW("cat", INPUTS(values({2, 3}), values({2, 2}, 1, 2)), at::cat(x, 1)),
      ROW("cat with an empty one", INPUTS(values({2, 3}), values({0})), at::cat(x, -1)),
      ROW("stack", INPUTS(values({2, 3}), values({2, 3}, 1, 2)), at::stack(x, 1)),
      ROW("flip", INPUTS(values({2, 3})), x[0].flip({0, 1})),
      ROW("repeat", INPUTS(values({2, 3})), x[0].repeat({2, 1})),
      ROW("split", INPUTS(values({5, 2})), x[0].split(2)[1] * 2),
      ROW("distances", INPUTS(values({3, 2}), values({4, 2}, 1, 2)), at::_euclidean_dist(x[0], x[1])),
      ROW("all parts of split", INPUTS(values({5, 2})), x[0].split(2)[0] * x[0].split(2)[1] + x[0].split(2)[2]),
      ROW("split with sizes", INPUTS(values({2, 5})), x[0].split_with_sizes({1, 3, 1}, -1)[1] * 2),
      ROW("unbind", INPUTS(values({3, 2})), x[0].unbind(1)[1] * x[0].unbind(1)[0]),
      ROW("movedim", INPUTS(values({3, 2, 2})), x[0].movedim(0, 2)),
      ROW("roll", INPUTS(values({3, 2})), at::roll(x[0], 1, 0)),
      ROW("diag", INPUTS(values({3})), at::diag(x[0], 1)),
      ROW("repeat_interleave", INPUTS(values({3})), at::repeat_interleave(x[0], integers({0, 1, 2}, {3}), 0)),
      ROW("meshgrid", INPUTS(values({3}), values({2})), at::meshgrid(x)[0] * at::meshgrid(x)[1]),
  });
}

TEST(indexing) {
  run({
      ROW("scatter", INPUTS(values({2, 3}), values({2, 2}, 1, 2)),
          at::scatter(x[0], 1, integers({0, 2, 1, 2}, {2, 2}), x[1])),
      ROW("unique", INPUTS(values({5})), std::get<0>(at::_unique2(x[0]))),
      ROW("index", INPUTS(values({4, 3})), at::index(x[0], {integers({0, 2, 2}, {3})})),
      ROW("index by two", INPUTS(values({4, 3})),
          at::index(x[0], {integers({0, 2, 2}, {3}), integers({1, 1, 1}, {3})})),
      ROW("index_select", INPUTS(values({4, 3})), x[0].index_select(1, integers({2, 0, 2}, {3}))),
      ROW("gather", INPUTS(values({2, 3})), x[0].gather(1, integers({0, 0, 2, 1}, {2, 2}))),
      ROW("index_put_", INPUTS(values({4, 3}), values({2, 3}, 1, 2)),
          x[0].clone().index_put_({integers({0, 2}, {2})}, x[1])),
      ROW("index_put_ accumulate", INPUTS(values({4, 3}), values({3}, 1, 2)),
          x[0].clone().index_put_({integers({2, 2}, {2})}, x[1], true)),
      ROW("index_copy", INPUTS(values({4, 3}), values({2, 3}, 1, 2)),
          at::index_copy(x[0], 0, integers({2, 0}, {2}), x[1])),
      ROW("index_fill", INPUTS(values({4, 3})), at::index_fill(x[0], 0, integers({2, 0}, {2}), 0.5)),
      ROW("put", INPUTS(values({4, 3}), values({2}, 1, 2)), at::put(x[0], integers({7, 0}, {2}), x[1])),
      ROW("put, accumulated", INPUTS(values({4, 3}), values({2}, 1, 2)),
          at::put(x[0], integers({7, 7}, {2}), x[1], true)),
      ROW("diag_embed", INPUTS(values({2, 3})), at::diag_embed(x[0], 1)),
      ROW("index_add_", INPUTS(values({4, 3}), values({2, 3}, 1, 2)),
          x[0].clone().index_add_(0, integers({2, 2}, {2}), x[1], 0.5)),
      ROW("scatter_", INPUTS(values({2, 3}), values({2, 3}, 1, 2)),
          x[0].clone().scatter_(1, integers({0, 2, 1, 2}, {2, 2}), x[1])),
      ROW("scatter_ a number", INPUTS(values({2, 3})),
          x[0].clone().scatter_(1, integers({0, 2, 1, 2}, {2, 2}), 3)),
      ROW("scatter_add_", INPUTS(values({2, 3}), values({2, 2}, 1, 2)),
          x[0].clone().scatter_add_(1, integers({0, 0, 1, 2}, {2, 2}), x[1])),
      ROW("masked_fill", INPUTS(values({2, 3})), x[0].masked_fill(mask_of({2, 3}), 2)),
      ROW("masked_fill_", INPUTS(values({2, 3})), x[0].clone().masked_fill_(mask_of({3}), 2)),
      ROW("masked_select", INPUTS(values({2, 3})), x[0].masked_select(mask_of({2, 3}))),
      ROW("take_along_dim", INPUTS(values({2, 3})), at::take_along_dim(x[0], integers({0, 2}, {2, 1}), 1)),
      ROW("embedding", INPUTS(values({4, 3})), at::embedding(x[0], integers({1, 3, 1}, {3}))),
  });
}

namespace {

// Well away from singular, and symmetric positive definite.
Tensor regular(const Tensor& matrix) { return matrix + 4 * at::eye(3, at::kDouble); }
Tensor definite(const Tensor& matrix) { return at::matmul(matrix, matrix.t()) + at::eye(3, at::kDouble); }
Tensor first(const std::tuple<Tensor, Tensor>& pair) { return std::get<0>(pair); }

}  // namespace

TEST(linear_algebra) {
  run({
      ROW("cholesky", INPUTS(values({3, 3})), first(at::linalg_cholesky_ex(definite(x[0])))),
      ROW("cholesky upper", INPUTS(values({3, 3})), first(at::linalg_cholesky_ex(definite(x[0]), true))),
      ROW("cholesky_solve", INPUTS(values({3, 2}), values({3, 3})),
          at::cholesky_solve(x[0], at::linalg_cholesky(definite(x[1])))),
      ROW("cholesky_inverse", INPUTS(values({3, 3})),
          at::cholesky_inverse(at::linalg_cholesky(definite(x[0]), true), true)),
      ROW("lu_factor", INPUTS(values({3, 3})), std::get<0>(at::linalg_lu_factor_ex(regular(x[0])))),
      ROW("lu_factor of a wide matrix", INPUTS(values({2, 3})), std::get<0>(at::linalg_lu_factor_ex(x[0]))),
      ROW("lu_factor of a tall matrix", INPUTS(values({3, 2})), std::get<0>(at::linalg_lu_factor_ex(x[0]))),
      ROW("qr", INPUTS(values({3, 3})),
          at::mul(first(at::linalg_qr(regular(x[0]))), std::get<1>(at::linalg_qr(regular(x[0]))))),
      ROW("qr of a tall matrix", INPUTS(values({3, 2})), first(at::linalg_qr(x[0]))),
      ROW("qr of a wide matrix", INPUTS(values({2, 3})), std::get<1>(at::linalg_qr(x[0]))),
      ROW("solve_triangular", INPUTS(values({3, 3}), values({3, 2})),
          at::linalg_solve_triangular(regular(x[0]), x[1], true)),
      ROW("solve_triangular, right", INPUTS(values({3, 3}), values({2, 3})),
          at::linalg_solve_triangular(regular(x[0]), x[1], false, false, true)),
      ROW("solve", INPUTS(values({3, 3}), values({3, 2})), std::get<0>(at::_linalg_solve_ex(regular(x[0]), x[1]))),
      ROW("solve, right", INPUTS(values({3, 3}), values({2, 3})),
          std::get<0>(at::_linalg_solve_ex(regular(x[0]), x[1], false))),
      ROW("solve of vectors", INPUTS(values({3, 3}), values({3})),
          std::get<0>(at::_linalg_solve_ex(regular(x[0]), x[1]))),
      ROW("inv", INPUTS(values({3, 3})), first(at::linalg_inv_ex(regular(x[0])))),
      ROW("det", INPUTS(values({3, 3})), std::get<0>(at::_linalg_det(regular(x[0])))),
      ROW("slogdet", INPUTS(values({3, 3})), std::get<1>(at::_linalg_slogdet(regular(x[0])))),
      ROW("lstsq", INPUTS(values({3, 2}), values({3})), std::get<0>(at::linalg_lstsq(x[0], x[1]))),
      ROW("eigh", INPUTS(values({3, 3})), at::abs(std::get<1>(at::_linalg_eigh(definite(x[0]))))),
      ROW("eigvalsh", INPUTS(values({3, 3})), std::get<0>(at::_linalg_eigh(definite(x[0]), "U"))),
      ROW("eig", INPUTS(values({3, 3})), at::abs(first(at::linalg_eig(regular(x[0]))))),
      ROW("svd", INPUTS(values({3, 2})), at::abs(std::get<0>(at::_linalg_svd(x[0])))),
      ROW("svdvals", INPUTS(values({3, 2})), std::get<1>(at::_linalg_svd(x[0]))),
      ROW("pinv", INPUTS(values({3, 2})), at::linalg_pinv(x[0], Tensor(), Tensor())),
      ROW("matrix_exp", INPUTS(values({3, 3}, -1, 1)), at::linalg_matrix_exp(x[0])),
  });
}

TEST(fourier_transforms) {
  run({
      ROW("c2c", INPUTS(values({2, 3, 2})), at::view_as_real(at::_fft_c2c(at::view_as_complex(x[0]), {1, 0}, 1, true))),
      ROW("r2c", INPUTS(values({3, 5})), at::view_as_real(at::_fft_r2c(x[0], {0, 1}, 0, true))),
      ROW("r2c whole", INPUTS(values({3, 4})), at::view_as_real(at::_fft_r2c(x[0], {1}, 2, false))),
      ROW("c2r", INPUTS(values({2, 3, 2})), at::_fft_c2r(at::view_as_complex(x[0]), {0, 1}, 2, 4)),
      ROW("c2r of an odd length", INPUTS(values({2, 3, 2})), at::_fft_c2r(at::view_as_complex(x[0]), {1}, 0, 5)),
  });
}

TEST(in_place) {
  run({
      ROW("add_", INPUTS(values({2, 3}), values({3}, 1, 2)), x[0].clone().add_(x[1], 0.5)),
      ROW("mul_", INPUTS(values({2, 3}), values({3}, 1, 2)), x[0].clone().mul_(x[1])),
      ROW("mul_ by a number", INPUTS(values({2, 3})), x[0].clone().mul_(2.5)),
      ROW("div_", INPUTS(values({2, 3}), values({3}, 1, 2)), x[0].clone().div_(x[1])),
      ROW("pow_", INPUTS(values({2, 3}, 0.5, 2)), x[0].clone().pow_(3)),
      ROW("exp_", INPUTS(values({2, 3})), x[0].clone().exp_()),
      ROW("sigmoid_", INPUTS(values({2, 3})), x[0].clone().sigmoid_()),
      ROW("relu_", INPUTS(values({2, 3})), x[0].clone().relu_()),
      ROW("clamp_", INPUTS(values({2, 3})), x[0].clone().clamp_(-1, 1)),
      ROW("copy_", INPUTS(values({2, 3}), values({3}, 1, 2)), x[0].clone().copy_(x[1])),
      ROW("fill_", INPUTS(values({2, 3})), x[0].clone().fill_(2)),
      ROW("zero_", INPUTS(values({2, 3})), x[0].clone().zero_()),
      ROW("addcmul_", INPUTS(values({2, 3}), values({3}), values({3}, 1, 2)),
          x[0].clone().addcmul_(x[1], x[2], 0.5)),
  });
}

namespace {

// Writes a part of a copy of x[0] in place, in several ways, and reads both the part and the whole.
template <typename Change>
Tensor change_part(const Tensors& x, const Change& change) {
  Tensor whole = x[0].clone();
  Tensor part = whole.select(0, 1);
  change(part);
  return whole * whole + part;
}

}  // namespace

TEST(random_numbers_have_no_gradient) {
  const std::vector<std::function<Tensor(Tensor)>> functions = {
      [](const Tensor& x) { return x.uniform_(); },
      [](const Tensor& x) { return x.normal_(); },
      [](const Tensor& x) { return x.random_(); },
      [](const Tensor& x) { return x.random_(7); },
      [](const Tensor& x) { return x.random_(2, 7); },
      [](const Tensor& x) { return x.bernoulli_(0.5); },
      [](const Tensor& x) { return at::bernoulli(x * 0.1); },
      [](const Tensor& x) { return x.bernoulli_(values({2, 3}, 0.1, 0.9)); },
      [](const Tensor& x) { return x.exponential_(); },
      [](const Tensor& x) { return x.geometric_(0.5); },
      [](const Tensor& x) { return x.log_normal_(); },
      [](const Tensor& x) { return x.cauchy_(); },
      [](const Tensor& x) { return at::poisson(x); },
      [](const Tensor& x) { return at::binomial(values({2, 3}, 4, 9), x); },
      [](const Tensor& x) { return at::normal(x, 1.0); },
      [](const Tensor& x) { return at::normal(1.0, x); },
      [](const Tensor& x) { return at::normal(values({2, 3}), x); },
  };
  for (const auto& function : functions) {
    const Tensor x = values({2, 3}, 0.1, 0.9).requires_grad_();
    const Tensor y = function(x.clone());
    CHECK(y.requires_grad());
    y.sum().backward();
    CHECK(at::equal(x.grad(), at::zeros_like(x)));
  }
}

// F(x; a) of a sample stays what it is: dx/da = -(dF/da) / (dF/dx).
TEST(random_numbers_follow_their_shapes) {
  const Tensor a = values({50}, 0.2, 12).requires_grad_();
  const Tensor shapes = a.detach();
  const Tensor drawn = at::_standard_gamma(a);
  drawn.sum().backward();
  const Tensor x = drawn.detach();
  const Tensor by_shape = (at::igamma(shapes + 1e-4, x) - at::igamma(shapes - 1e-4, x)) / 2e-4;
  const Tensor density = ((shapes - 1) * x.log() - x - at::lgamma(shapes)).exp();
  CHECK(at::allclose(a.grad() * density, -by_shape, 2e-3, 1e-6));

  const Tensor alpha = at::stack({values({50}, 0.2, 12), at::ones({50}, at::kDouble)}, 1).requires_grad_();
  const Tensor part = at::_sample_dirichlet(alpha).select(1, 0);  // F(x; a) = x^a
  part.sum().backward();
  const Tensor first = alpha.detach().select(1, 0);
  CHECK(at::allclose(alpha.grad().select(1, 0), -part.detach() * part.detach().log() / first, 2e-3, 1e-6));

  const Tensor gamma_slope = at::_standard_gamma_grad(a, x);
  CHECK_THROWS(c10::NotImplementedError, gamma_slope.sum().backward(),
               "the derivative for '_standard_gamma_grad' is not implemented.");
  const Tensor part_slope = at::_dirichlet_grad(part, alpha.select(1, 0), at::sum(alpha, {1}));
  CHECK_THROWS(c10::NotImplementedError, part_slope.sum().backward(),
               "the derivative for '_dirichlet_grad' is not implemented.");
}

TEST(in_place_on_views) {
  run({
      ROW("mul_", INPUTS(values({3, 2}), values({2}, 1, 2)),
          change_part(x, [&](Tensor& part) { part.mul_(x[1]); })),
      ROW("copy_", INPUTS(values({3, 2}), values({1}, 1, 2)),
          change_part(x, [&](Tensor& part) { part.copy_(x[1]); })),
      ROW("sigmoid_", INPUTS(values({3, 2})), change_part(x, [](Tensor& part) { part.sigmoid_(); })),
      ROW("twice", INPUTS(values({3, 2})), change_part(x, [](Tensor& part) { part.sin_().mul_(2); })),
      ROW("a view of a view", INPUTS(values({3, 2})),
          change_part(x, [](Tensor& part) { part.slice(0, 1, 2).exp_(); })),
      ROW("a transposed view", INPUTS(values({3, 2}), values({3}, 1, 2)),
          [&x] {
            Tensor whole = x[0].clone();
            whole.t().select(0, 1).mul_(x[1]);
            return whole * whole;
          }()),
  });
}


TEST(complex_numbers) {
  const Tensor first = values({2, 3}, 0.5, 1.5);
  const Tensor second = values({2, 3});
  run({
      ROW("complex", INPUTS(first, second), at::abs(at::complex(x[0], x[1]))),
      ROW("polar", INPUTS(first, second), at::real(at::polar(x[0], x[1]))),
      ROW("angle", INPUTS(first, second), at::angle(at::complex(x[0], x[1]))),
      ROW("sgn", INPUTS(first, second), at::imag(at::sgn(at::complex(x[0], x[1])))),
      ROW("conj_physical", INPUTS(first, second), at::imag(at::conj_physical(at::complex(x[0], x[1])))),
      ROW("view_as_real", INPUTS(first, second), at::view_as_real(at::complex(x[0], x[1]))),
      ROW("view_as_complex", INPUTS(values({3, 2})), at::abs(at::view_as_complex(x[0]))),
  });
}

TEST(sparse_tensors) {
  // The values are what is learned; (3, 4), of which one place is named twice.
  const Tensor indices = integers({0, 2, 1, 0, 1, 3, 0, 1}, {2, 4});
  const Tensor starts = integers({0, 2, 3, 4}, {4});
  const Tensor columns = integers({0, 3, 1, 2}, {4});
  const auto coo = [=](const Tensor& x) { return at::_sparse_coo_tensor_unsafe(indices, x, {3, 4}); };
  const auto csr = [=](const Tensor& x) {
    return at::_sparse_compressed_tensor_unsafe(starts, columns, x, {3, 4}, at::Layout::SparseCsr);
  };
  const Tensor four = values({4}, 0.5, 2);
  const Tensor matrix = values({4, 2});
  const auto row = [&](const char* name, Tensors inputs, check::Function function) {
    return Row{name, std::move(inputs), std::move(function), /*second=*/false};
  };
  run({
      row("to_dense", {four, values({3, 4})}, [=](const Tensors& x) { return coo(x[0]).to_dense() * x[1]; }),
      row("to_dense by rows", {four, values({3, 4})}, [=](const Tensors& x) { return csr(x[0]).to_dense() * x[1]; }),
      row("coalesce, values", {four}, [=](const Tensors& x) { return coo(x[0]).coalesce().values().square(); }),
      row("to_sparse", {values({3, 4})}, [=](const Tensors& x) { return x[0].to_sparse().values().square(); }),
      row("to_sparse with dense dimensions", {values({3, 4})},
          [=](const Tensors& x) { return x[0].to_sparse(1).values().square(); }),
      row("sparse_mask", {values({3, 4})},
          [=](const Tensors& x) { return x[0].sparse_mask(coo(four)).to_dense().square(); }),
      row("_sparse_mm", {four, matrix}, [=](const Tensors& x) { return at::_sparse_mm(coo(x[0]), x[1]).square(); }),
      row("_sparse_mm by rows", {four, matrix},
          [=](const Tensors& x) { return at::_sparse_mm(csr(x[0]), x[1]).square(); }),
      row("_sparse_addmm", {values({3, 2}), four, matrix},
          [=](const Tensors& x) { return at::_sparse_addmm(x[0], coo(x[1]), x[2], 2, 3).square(); }),
      row("_sparse_sparse_matmul", {four, four},
          [=](const Tensors& x) { return at::_sparse_sparse_matmul(coo(x[0]), coo(x[1]).t()).to_dense().square(); }),
      row("sparse_sampled_addmm", {four, values({3, 2}), values({2, 4})},
          [=](const Tensors& x) { return at::sparse_sampled_addmm(csr(x[0]), x[1], x[2], 2, 3).values().square(); }),
      // Of which one gradient is sparse, and their sum strided.
      row("_embedding", {matrix},
          [=](const Tensors& x) {
            return at::_embedding(x[0], integers({0, 2, 0}, {3}), -1, true).square() + x[0][1];
          }),
      row("_embedding with a dense gradient", {matrix},
          [=](const Tensors& x) { return at::_embedding(x[0], integers({0, 2, 0}, {3})).square() + x[0][1]; }),
      row("mm", {matrix}, [=](const Tensors& x) { return at::mm(coo(four), x[0]).square(); }),
      row("_sparse_sum", {four}, [=](const Tensors& x) { return at::_sparse_sum(coo(x[0]), {0}).to_dense().square(); }),
      row("_sparse_softmax", {four, values({3, 4})},
          [=](const Tensors& x) { return at::_sparse_softmax(coo(x[0]), 1).to_dense() * x[1]; }),
      row("_sparse_log_softmax", {four, values({3, 4})},
          [=](const Tensors& x) { return at::_sparse_log_softmax(coo(x[0]), 1).to_dense() * x[1]; }),
  });
}

TEST_MAIN()
