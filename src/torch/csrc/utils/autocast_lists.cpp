// Which operators autocast gives which dtype: PyTorch's lists, by the names that the operators have in Python.

#include <torch/csrc/utils/autocast_lists.h>

#include <initializer_list>
#include <unordered_map>

namespace torch::python {

namespace {

using Policy = AutocastPolicy;

// Operators that are alike on the CPU and alike on CUDA devices.
struct Group {
  Policy cpu, cuda;
  std::initializer_list<const char*> names;
};

std::unordered_map<std::string_view, AutocastPolicies> read_groups() {
  const Group groups[] = {
      {Policy::Lower, Policy::Lower,
       {"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv_tbc",
        "convolution", "bmm", "mm", "baddbmm", "addmm", "addbmm", "linear", "matmul", "linalg_multi_dot",
        "chain_matmul", "scaled_dot_product_attention", "lstm", "rnn_tanh", "rnn_relu", "rnn_tanh_cell",
        "rnn_relu_cell", "einsum", "matrix_power", "linalg_matrix_power", "prelu"}},
      {Policy::Lower, Policy::Widest,
       {"tensordot", "inner"}},
      {Policy::Single, Policy::Lower,
       {"gru", "gru_cell", "lstm_cell"}},
      {Policy::Single, Policy::Single,
       {"binary_cross_entropy_with_logits", "cdist", "mse_loss", "cosine_embedding_loss", "nll_loss",
        "hinge_embedding_loss", "poisson_nll_loss", "smooth_l1_loss", "cross_entropy", "cross_entropy_loss",
        "l1_loss", "huber_loss", "margin_ranking_loss", "soft_margin_loss", "triplet_margin_loss",
        "multi_margin_loss", "kl_div", "multilabel_margin_loss"}},
      {Policy::Single, Policy::SingleByDefault,
       {"prod"}},
      {Policy::Single, Policy::Widest,
       {"grid_sampler"}},
      {Policy::Single, Policy::Banned,
       {"binary_cross_entropy"}},
      {Policy::Single, Policy::Keep,
       {"avg_pool3d", "grid_sample", "polar", "quantile", "nanquantile", "stft", "trace", "view_as_complex",
        "cholesky", "cholesky_inverse", "cholesky_solve", "inverse", "lu_solve", "orgqr", "ormqr", "pinverse",
        "max_pool3d", "max_unpool2d", "max_unpool3d", "adaptive_avg_pool3d", "reflection_pad1d",
        "reflection_pad2d", "replication_pad1d", "replication_pad2d", "replication_pad3d", "ctc_loss",
        "fft_fft", "fft_ifft", "fft_fft2", "fft_ifft2", "fft_fftn", "fft_ifftn", "fft_rfft", "fft_irfft",
        "fft_rfft2", "fft_irfft2", "fft_rfftn", "fft_irfftn", "fft_hfft", "fft_ihfft", "linalg_cond",
        "linalg_matrix_rank", "linalg_solve", "linalg_cholesky", "linalg_svdvals", "linalg_eigvals",
        "linalg_eigvalsh", "linalg_inv", "linalg_householder_product", "linalg_tensorinv",
        "linalg_tensorsolve", "fake_quantize_per_tensor_affine", "geqrf", "_lu_with_info", "qr", "svd",
        "triangular_solve", "fractional_max_pool2d", "fractional_max_pool3d", "adaptive_max_pool3d",
        "multilabel_margin_loss_forward", "linalg_qr", "linalg_cholesky_ex", "linalg_svd", "linalg_eig",
        "linalg_eigh", "linalg_lstsq", "linalg_inv_ex"}},
      {Policy::Widest, Policy::Widest,
       {"stack", "cat", "concat", "concatenate"}},
      {Policy::Widest, Policy::Keep,
       {"index_copy"}},
      {Policy::Keep, Policy::Lower,
       {"addmv", "addr", "mv", "linalg_vecdot"}},
      {Policy::Keep, Policy::Single,
       {"acos", "arccos", "asin", "arcsin", "cosh", "erfinv", "special_erfinv", "exp", "expm1",
        "special_expm1", "log", "log10", "log2", "log1p", "special_log1p", "reciprocal", "rsqrt", "sinh",
        "tan", "pow", "softplus", "layer_norm", "native_layer_norm", "group_norm", "native_group_norm",
        "frobenius_norm", "nuclear_norm", "cosine_similarity", "dist", "pdist", "pairwise_distance", "renorm",
        "logsumexp", "special_logsumexp", "interpolate"}},
      {Policy::Keep, Policy::SingleByDefault,
       {"sum", "softmax", "special_softmax", "log_softmax", "special_log_softmax", "cumprod", "cumsum", "norm",
        "linalg_norm", "linalg_vector_norm", "linalg_matrix_norm"}},
      {Policy::Keep, Policy::Widest,
       {"addcdiv", "addcmul", "atan2", "arctan2", "bilinear", "cross", "linalg_cross", "dot", "vdot",
        "index_put", "scatter_add"}},
  };
  std::unordered_map<std::string_view, AutocastPolicies> made;
  for (const Group& group : groups) {
    for (const char* name : group.names) made.emplace(name, AutocastPolicies{group.cpu, group.cuda});
  }
  return made;
}

}  // namespace

AutocastPolicies autocast_policies(std::string_view name) {
  static const auto* table = new std::unordered_map<std::string_view, AutocastPolicies>(read_groups());
  const auto found = table->find(name);
  return found == table->end() ? AutocastPolicies() : found->second;
}

}  // namespace torch::python
