// Formulas of derivatives.yaml that layers, their activations and losses use; formulas.cpp has the others.

#include "formulas.h"

using namespace formulas;

TEST(softmax_and_losses) {
  run({
      ROW("softmax", INPUTS(values({2, 3})), x[0].softmax(1)),
      ROW("log_softmax", INPUTS(values({2, 3})), x[0].log_softmax(0)),
      ROW("_softmax", INPUTS(values({2, 3})), at::_softmax(x[0], 1, false)),
      ROW("_softmax_backward", INPUTS(values({2, 3}), values({2, 3}, 0.1, 0.9)),
          at::_softmax_backward(x[0], x[1], 1, false)),
      ROW("_softmax_backward log", INPUTS(values({2, 3}), values({2, 3}, -2, -1)),
          at::_softmax_backward(x[0], x[1], 1, true)),
      ROW("mse_loss", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::mse_loss(x[0], x[1])),
      ROW("mse_loss none", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::mse_loss(x[0], x[1], 0)),
      ROW("mse_loss sum", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::mse_loss(x[0], x[1], 2)),
      ROW("l1_loss", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::l1_loss(x[0], x[1])),
      ROW("smooth_l1_loss", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::smooth_l1_loss(x[0], x[1])),
      ROW("nll_loss", INPUTS(values({3, 4})), at::nll_loss(x[0], integers({0, 3, 1}, {3}))),
      ROW("nll_loss weighted", INPUTS(values({3, 4})),
          at::nll_loss(x[0], integers({0, 3, 1}, {3}), values({4}, 1, 2), 1, 3)),
      ROW("_embedding_bag", INPUTS(values({4, 3}), values({5})),
          std::get<0>(at::_embedding_bag(x[0], integers({1, 3, 1, 0, 2}, {5}), integers({0, 3}, {2}), false, 0, false,
                                         x[1]))),
      ROW_ONCE("_ctc_loss", INPUTS(values({5, 2, 3})),
          std::get<0>(at::_ctc_loss(at::log_softmax(x[0], 2), integers({1, 1, 2, 2, 1}, {5}), {5, 4}, {3, 2}))),
      ROW("nll_loss none", INPUTS(values({3, 4})), at::nll_loss(x[0], integers({0, 3, 1}, {3}), {}, 0)),
      ROW("nll_loss_backward", INPUTS(values({}), values({3, 4})),
          at::nll_loss_backward(x[0], x[1], integers({0, 3, 1}, {3}), {}, 1, -100)),
      ROW("multilabel_margin_loss", INPUTS(values({2, 4})),
          at::multilabel_margin_loss(x[0], integers({2, 0, -1, 1, 3, 3, 1, -1}, {2, 4}))),
      ROW("multilabel_margin_loss none", INPUTS(values({2, 4})),
          at::multilabel_margin_loss(x[0], integers({2, 0, -1, 1, 3, 3, 1, -1}, {2, 4}), 0)),
      ROW("multilabel_margin_loss_backward", INPUTS(values({2}), values({2, 4})),
          at::multilabel_margin_loss_backward(x[0], x[1], integers({2, 0, -1, 1, 3, 3, 1, -1}, {2, 4}), 0)),
      ROW("cross_entropy_loss", INPUTS(values({3, 4})),
          at::cross_entropy_loss(x[0], integers({0, 3, 1}, {3}), {}, 1, -100, 0.1)),
      ROW("huber_loss", INPUTS(values({2, 3}), values({2, 3}, 0, 1)), at::huber_loss(x[0], x[1], 1, 0.7)),
      ROW("binary_cross_entropy of both", INPUTS(values({3}, 0.1, 0.9), values({3}, 0.2, 0.8)),
          at::binary_cross_entropy(x[0], x[1], values({3}, 1, 2), 2)),
      ROW("binary_cross_entropy", INPUTS(values({3}, 0.1, 0.9)),
          at::binary_cross_entropy(x[0], values({3}, 0, 1))),
      ROW("binary_cross_entropy_with_logits", INPUTS(values({3})),
          at::binary_cross_entropy_with_logits(x[0], values({3}, 0, 1))),
      ROW("layer_norm", INPUTS(values({2, 4}), values({4}), values({4})),
          at::layer_norm(x[0], {4}, x[1], x[2])),
  });
}

TEST(activations_of_nn) {
  const Tensor x3 = values({2, 5}, -3.5, 3.4);
  run({
      ROW("silu", INPUTS(x3), at::silu(x[0])),
      ROW("silu_backward", INPUTS(values({2, 5}), x3), at::silu_backward(x[0], x[1])),
      ROW("mish", INPUTS(x3), at::mish(x[0])),
      ROW("mish_backward", INPUTS(values({2, 5}), x3), at::mish_backward(x[0], x[1])),
      ROW("log_sigmoid", INPUTS(x3), at::log_sigmoid(x[0])),
      ROW("log_sigmoid_backward", INPUTS(values({2, 5}), x3), at::log_sigmoid_backward(x[0], x[1])),
      ROW("hardsigmoid", INPUTS(x3), at::hardsigmoid(x[0])),
      ROW("hardsigmoid_backward", INPUTS(values({2, 5}), x3), at::hardsigmoid_backward(x[0], x[1])),
      ROW("hardswish", INPUTS(x3), at::hardswish(x[0])),
      ROW("hardswish_backward", INPUTS(values({2, 5}), x3), at::hardswish_backward(x[0], x[1])),
      ROW("threshold", INPUTS(x3), at::threshold(x[0], 0.3, -2)),
      ROW("hardshrink", INPUTS(x3), at::hardshrink(x[0], 0.4)),
      ROW("softshrink", INPUTS(x3), at::softshrink(x[0], 0.4)),
      ROW("hardshrink_backward", INPUTS(values({2, 5}), x3), at::hardshrink_backward(x[0], x[1], 0.4)),
      ROW("logit", INPUTS(values({3}, 0.1, 0.9)), at::logit(x[0])),
      ROW("logit with eps", INPUTS(values({3}, 0.1, 0.9)), at::logit(x[0], 0.2)),
      ROW("leaky_relu_backward", INPUTS(values({2, 5}), x3), at::leaky_relu_backward(x[0], x[1], 0.2)),
      ROW("elu", INPUTS(x3), at::elu(x[0], 0.7, 1.1, 0.9)),
      ROW("elu_backward", INPUTS(values({2, 5}), x3), at::elu_backward(x[0], x[1], 0.7, 1.1, 0.9)),
      ROW("softplus", INPUTS(x3), at::softplus(x[0], 1.5, 4)),
      ROW("softplus_backward", INPUTS(values({2, 5}), x3), at::softplus_backward(x[0], x[1], 1.5, 4)),
      ROW("hardtanh", INPUTS(x3), at::hardtanh(x[0], -1.1, 2)),
      ROW("selu", INPUTS(x3), at::selu(x[0])),
      ROW("glu", INPUTS(values({3, 4})), at::glu(x[0], 1)),
      ROW("glu_backward", INPUTS(values({3, 2}), values({3, 4})), at::glu_backward(x[0], x[1], 1)),
      ROW("native_dropout", INPUTS(values({3, 4})),
          (at::default_generator()->set_current_seed(1), std::get<0>(at::native_dropout(x[0], 0.25, true)))),
      ROW("native_dropout of none", INPUTS(values({3, 4})), std::get<0>(at::native_dropout(x[0], 0.25, false))),
      ROW("native_dropout_backward", INPUTS(values({3, 4})),
          at::native_dropout_backward(x[0], at::gt(values({3, 4}), 0), 1.5)),
      ROW("prelu", INPUTS(x3, values({5}, 0.1, 0.9)), at::prelu(x[0], x[1])),
  });
}

TEST(pooling) {
  const Tensor image = values({2, 5, 6});
  const Tensor volume = values({1, 3, 4, 3});
  run({
      ROW("max_pool2d_with_indices", INPUTS(image),
          std::get<0>(at::max_pool2d_with_indices(x[0], {3, 2}, {2}, {1}, {1}, true))),
      ROW("max_pool3d_with_indices", INPUTS(volume), std::get<0>(at::max_pool3d_with_indices(x[0], 2))),
      ROW("max_pool1d", INPUTS(values({2, 7})), at::max_pool1d(x[0], 3, 2, 1)),
      ROW("fractional_max_pool2d", INPUTS(image),
          std::get<0>(at::fractional_max_pool2d(x[0], {2}, {2}, at::full({1, 2, 2}, 0.5, x[0].options())))),
      ROW("fractional_max_pool3d", INPUTS(volume),
          std::get<0>(at::fractional_max_pool3d(x[0], {2}, {2}, at::full({1, 1, 3}, 0.5, x[0].options())))),
      ROW("adaptive_max_pool2d", INPUTS(image), std::get<0>(at::adaptive_max_pool2d(x[0], {3, 4}))),
      ROW("adaptive_max_pool3d", INPUTS(volume), std::get<0>(at::adaptive_max_pool3d(x[0], {2, 3, 2}))),
      ROW("avg_pool1d", INPUTS(values({2, 7})), at::avg_pool1d(x[0], 3, 2, 1)),
      ROW("avg_pool2d", INPUTS(image), at::avg_pool2d(x[0], {3, 2}, {2}, {1}, true, false)),
      ROW("avg_pool2d_backward", INPUTS(values({2, 2, 3})),
          at::avg_pool2d_backward(x[0], {2, 5, 6}, 2, 2, 0, false, true, std::nullopt)),
      ROW("avg_pool3d", INPUTS(volume), at::avg_pool3d(x[0], 2, 1, 1, false, true, 5)),
      ROW("avg_pool3d_backward", INPUTS(values({1, 1, 2, 1})),
          at::avg_pool3d_backward(x[0], {1, 3, 4, 3}, 2, 2, 0, false, true, std::nullopt)),
      ROW("_interpolate", INPUTS(values({1, 2, 5, 6})),
          at::_interpolate(x[0], {7, 3}, {}, {}, {}, "cubic", false, false)),
      ROW("_interpolate_backward", INPUTS(values({1, 2, 7, 3})),
          at::_interpolate_backward(x[0], {1, 2, 5, 6}, {}, {}, {}, "linear", false, true)),
      ROW_ONCE("grid_sampler", INPUTS(values({1, 2, 5, 6}), values({1, 2, 3, 2})),
               at::grid_sampler(x[0], x[1], 0, 1, false)),
      ROW_ONCE("grid_sampler_2d", INPUTS(values({1, 2, 5, 6}), values({1, 2, 3, 2})),
               at::grid_sampler_2d(x[0], x[1], 2, 0, true)),
      ROW_ONCE("grid_sampler_3d", INPUTS(values({1, 2, 2, 3, 2}), values({1, 2, 1, 2, 3})),
               at::grid_sampler_3d(x[0], x[1], 0, 2, false)),
      ROW("_grid_sampler_grid_backward", INPUTS(values({1, 2, 3, 2})),
          at::_grid_sampler_grid_backward(x[0], values({1, 2, 5, 6}), values({1, 3, 2, 2}), 0, 0, false)),
      ROW("_grid_sampler_tangent", INPUTS(values({1, 3, 2, 2})),
          at::_grid_sampler_tangent(x[0], values({1, 2, 5, 6}), values({1, 3, 2, 2}), 2, 1, true)),
      ROW_ONCE("_grid_sampler_input_backward", INPUTS(values({1, 2, 2, 3}), values({1, 2, 3, 2})),
               at::_grid_sampler_input_backward(x[0], x[1], {1, 2, 5, 6}, 0, 0, true)),
      ROW("adaptive_avg_pool1d", INPUTS(values({2, 7})), at::adaptive_avg_pool1d(x[0], 3)),
      ROW("_adaptive_avg_pool2d", INPUTS(image), at::_adaptive_avg_pool2d(x[0], {3, 7})),
      ROW("_adaptive_avg_pool3d", INPUTS(volume), at::_adaptive_avg_pool3d(x[0], {2, 3, 2})),
      ROW("_adaptive_avg_pool_backward", INPUTS(values({2, 3, 4})),
          at::_adaptive_avg_pool_backward(x[0], {2, 5, 6}, 2)),
  });
}

TEST(windows_and_padding) {
  run({
      ROW("im2col", INPUTS(values({1, 2, 4, 5})), at::im2col(x[0], {2, 3}, {1, 1}, {1, 0}, {2, 1})),
      ROW("im2col of a volume", INPUTS(values({1, 1, 3, 2, 3})), at::im2col(x[0], {2, 1, 2}, 1, 0, 1)),
      ROW("col2im", INPUTS(values({2, 4, 6})), at::col2im(x[0], {3, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1})),
      ROW("constant_pad_nd", INPUTS(values({3, 4})), at::constant_pad_nd(x[0], {1, -1, 0, 2}, 0.5)),
      ROW("pad", INPUTS(values({3, 4})), at::pad(x[0], {1, 2}, "circular")),
      ROW("_pad_border", INPUTS(values({2, 3, 4})), at::_pad_border(x[0], {3, 2, 1, 2}, "reflect")),
      ROW("_pad_border_backward", INPUTS(values({2, 6, 7})),
          at::_pad_border_backward(x[0], {2, 1, 1, 2}, "replicate")),
      ROW("_pad_border_backward, circular", INPUTS(values({2, 6, 7})),
          at::_pad_border_backward(x[0], {2, 1, 1, 2}, "circular")),
      ROW("reflection_pad1d", INPUTS(values({2, 4})), at::reflection_pad1d(x[0], {2, 1})),
      ROW("replication_pad1d", INPUTS(values({2, 4})), at::replication_pad1d(x[0], {2, 1})),
      ROW("pixel_shuffle", INPUTS(values({4, 2, 1})), at::pixel_shuffle(x[0], 2)),
  });
}

TEST(normalisation_of_channels) {
  const Tensor batch = values({3, 2, 4});
  const Tensor weight = values({2}, 0.5, 1.5);
  const Tensor bias = values({2});
  const Tensor mean = values({2});
  const Tensor variance = values({2}, 0.5, 2);
  run({
      ROW("native_batch_norm", INPUTS(batch, weight, bias),
          std::get<0>(at::native_batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-3))),
      ROW("native_group_norm", INPUTS(values({2, 4, 3}), values({4}), values({4})),
          std::get<0>(at::native_group_norm(x[0], x[1], x[2], 2, 4, 3, 2, 1e-3))),
      ROW("native_group_norm, mean", INPUTS(values({2, 4, 3})),
          std::get<1>(at::native_group_norm(x[0], {}, {}, 2, 4, 3, 2, 1e-3))),
      ROW("native_group_norm, deviation", INPUTS(values({2, 4, 3})),
          std::get<2>(at::native_group_norm(x[0], {}, {}, 2, 4, 3, 2, 1e-3))),
      ROW("_normalize_rows", INPUTS(values({4, 3}), values({3}), values({3})),
          std::get<0>(at::_normalize_rows(x[0], {3}, x[1], x[2], 1e-3, true))),
      {"_normalize_rows, root mean squares",
       {values({4, 3}), values({3})},
       [=](const Tensors& x) { return at::rms_norm(x[0], {3}, x[1], 1e-3); }},
      {"native_batch_norm, running moments",
       {batch, weight, bias},
       [=](const Tensors& x) { return at::batch_norm(x[0], x[1], x[2], mean, variance, false, 0.1, 1e-3, false); }},
      ROW("native_batch_norm without weight", INPUTS(values({4, 3})),
          at::batch_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-3, false)),
      ROW("_scaled_dot_product_flash_attention_for_cpu",
          INPUTS(values({1, 2, 3, 4}), values({1, 2, 5, 4}), values({1, 2, 5, 3})),
          std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(x[0], x[1], x[2]))),
      ROW("instance_norm", INPUTS(batch, weight, bias),
          at::instance_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-3, false)),
      ROW("group_norm", INPUTS(values({2, 4, 3}), values({4})), at::group_norm(x[0], 2, x[1], {}, 1e-3)),
      ROW("rms_norm", INPUTS(values({3, 4}), values({4})), at::rms_norm(x[0], {4}, x[1], 1e-3)),
  });
}

TEST(recurrences) {
  // A packed sequence: three sequences of 3, 2 and 1 steps; results in one tensor,
  // so that each has a gradient of its own.
  const auto joined = [](const std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>& results) {
    const auto& [output, h, c, gates, kept] = results;
    const Tensor states = at::cat({output.flatten(), h.flatten() * 2});
    return c.defined() ? at::cat({states, c.flatten() * 3}) : states;
  };
  const std::vector<int64_t> sizes{3, 2, 1};
  for (const bool reverse : {false, true}) {
    std::vector<Row> rows;
    const char* const names[] = {"tanh", "relu", "lstm", "gru"};
    for (const int64_t cell : {0, 1, 2, 3}) {
      const int64_t gates = cell == 2 ? 4 : cell == 3 ? 3 : 1;
      const Tensor weights = values({gates * 2, 2}, -0.7, 0.9);
      rows.push_back({names[cell],
                      INPUTS(values({6, 3}), values({3, 2}), values({3, 2}, -1, 2), values({gates * 2, 3}, -0.8, 0.6),
                             weights, values({gates * 2}), values({gates * 2}, -0.5, 0.9)),
                      [=](const Tensors& x) {
                        return joined(at::_recurrence(x[0], x[1], cell == 2 ? x[2] : Tensor(), x[3], x[4], x[5], x[6],
                                                      {}, sizes, cell, reverse)) +
                               (cell == 2 ? 0 : 1) * x[2].sum();
                      }});
    }
    rows.push_back({"lstm with a projection",
                    INPUTS(values({6, 3}), values({3, 1}), values({3, 2}, -1, 2), values({8, 3}, -0.8, 0.6),
                           values({8, 1}), values({1, 2})),
                    [=](const Tensors& x) {
                      return joined(at::_recurrence(x[0], x[1], x[2], x[3], x[4], {}, {}, x[5], sizes, 2, reverse));
                    }});
    rows.push_back({"gru of one step",
                    INPUTS(values({3, 3}), values({3, 2}), values({6, 3}, -0.8, 0.6), values({6, 2})),
                    [=](const Tensors& x) {
                      return joined(at::_recurrence(x[0], x[1], {}, x[2], x[3], {}, {}, {}, {3}, 3, reverse));
                    }});
    run(rows);
  }
}

TEST(ctc_loss_has_one_gradient) {
  const Tensor log_probs = at::log_softmax(values({5, 1, 3}), 2);
  const Tensor targets = integers({1, 2}, {2});
  const auto [losses, alpha] = at::_ctc_loss(log_probs, targets, {5}, {2});
  const Tensor grad = at::ones({1}, at::kDouble).requires_grad_();
  const Tensor gradient = at::_ctc_loss_backward(grad, log_probs, targets, {5}, {2}, losses, alpha, 0);
  CHECK_THROWS(c10::NotImplementedError, gradient.sum().backward(), "_ctc_loss_backward");
}

TEST_MAIN()

// Steps so small that differences do not see them; what is clamped has none.
TEST(fake_quantize) {
  run({
      ROW("fake_quantize", INPUTS(values({2, 3}, -2, 2)),
          at::fake_quantize_per_tensor_affine(x[0], 1e-12, 0, -1'000'000'000'000, 1'000'000'000'000)),
      ROW("fake_quantize by tensors", INPUTS(values({2, 3}, -2, 2)),
          at::fake_quantize_per_tensor_affine(x[0], at::full({1}, 1e-12, at::TensorOptions(at::kFloat)),
                                              at::zeros({1}, at::TensorOptions(at::kInt)), -1'000'000'000'000, 0)),
      ROW("fake_quantize of channels", INPUTS(values({2, 3}, -2, 2)),
          at::fake_quantize_per_channel_affine(x[0], at::full({2}, 1e-12, at::TensorOptions(at::kFloat)),
                                               at::zeros({2}, at::TensorOptions(at::kInt)), 0, 0, 1'000'000'000'000)),
  });
}
