#pragma once
// Helpers that the formulas of derivatives.yaml call. All are made of at:: functions, so that with
// create_graph they are recorded and differentiate again. `grad` is the gradient of the operation's result;
// the results have the shape of the input, or one that sums to it.

#include <aten/Tensor.h>
#include <aten/native/Recurrence.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::autograd {

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using at::TensorList;
using OptionalIntVector = std::optional<std::vector<int64_t>>;

// `dim` counted from the front; a 0-dim tensor has dimension 0 for this purpose.
int64_t wrap_dim(int64_t dim, size_t dimensions);
// Zeros that a gradient is written into: where its class answers for operators (dispatch.h), of that class, too.
Tensor zeros_beside(const Tensor& grad, IntArrayRef sizes);
// grad * value, without an operation for one.
Tensor maybe_multiply(const Tensor& grad, const Scalar& value);
Tensor to_copy_backward(const Tensor& grad, const at::TensorOptions& options);

// Arithmetic.
Tensor div_mode_self_backward(const Tensor& grad, const Tensor& other,
                              const std::optional<std::string>& rounding_mode);
Tensor div_mode_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other,
                               const std::optional<std::string>& rounding_mode);
Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent);
Tensor pow_self_backward(const Tensor& grad, const Tensor& self, const Tensor& exponent);
// Complex numbers; of real ones 0.
Tensor angle_backward(const Tensor& grad, const Tensor& self);
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor pow_exponent_backward(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                             const Tensor& result);
// maximum and minimum: nothing where the input lost, half at ties.
Tensor pairwise_backward(const Tensor& grad, const Tensor& lost, const Tensor& tied);
Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max);
Tensor logit_backward(const Tensor& grad, const Tensor& self, const std::optional<double>& eps);
// Tensors as bounds, either of them undefined: who let an element through has its gradient.
Tensor clamp_tensor_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor clamp_tensor_min_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor clamp_tensor_max_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                            std::string_view approximate);

// Reductions. `dim` missing or empty: all dimensions.
Tensor sum_backward(const Tensor& grad, IntArrayRef sizes, const OptionalIntVector& dim, bool keepdim);
Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, const OptionalIntVector& dim, bool keepdim);
Tensor prod_backward(const Tensor& grad, const Tensor& self);
Tensor prod_dim_backward(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim);
// amax, amin and the like: shared evenly among the elements that are the extremum.
Tensor extremum_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntArrayRef dim,
                         bool keepdim);
// Results that are elements of the input, at `indices` along `dim`.
// Of one element of all: those that equal it share its gradient.
Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
// A vector of zeros has the gradient 0, as constant values have under a standard deviation.
Tensor norm_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& p, const Tensor& result,
                     IntArrayRef dim, bool keepdim);
Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, const OptionalIntVector& dim,
                    const std::optional<Scalar>& correction, bool keepdim);
Tensor value_selecting_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& indices,
                                bool keepdim);
Tensor cumsum_backward(const Tensor& grad, int64_t dim);

// Special functions, running products and extremes, scatter that puts values together (FunctionsMath.cpp).
// Throws NotImplementedError: `what` is an input that no derivative is known for.
Tensor not_differentiable(const Tensor& grad, const char* what);
Tensor sinc_backward(const Tensor& grad, const Tensor& self);
Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor igamma_slope(const Tensor& self, const Tensor& other);
Tensor dirichlet_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor cumulative_extreme_backward(const Tensor& grad, IntArrayRef sizes, const Tensor& indices, int64_t dim);
Tensor scatter_reduce_self_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& given_index,
                                    const Tensor& given_src, std::string_view reduce, bool include_self,
                                    const Tensor& result);
Tensor scatter_reduce_source_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& given_index,
                                      const Tensor& given_src, std::string_view reduce, bool include_self,
                                      const Tensor& result);

// Matrices. The gradient is laid out as the matrix is, so that it can become its grad without a copy.
Tensor mm_mat1_backward(const Tensor& grad, IntArrayRef mat1_sizes, IntArrayRef mat1_strides,
                        const Tensor& mat2);
Tensor mm_mat2_backward(const Tensor& grad, const Tensor& mat1, IntArrayRef mat2_sizes,
                        IntArrayRef mat2_strides);

// torch.linalg (FunctionsLinalg.cpp).
Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper);
Tensor cholesky_solve_factor_backward(const Tensor& grad, const Tensor& factor, const Tensor& X, bool upper);
Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse, bool upper);
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots);
Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, const std::string& mode);
Tensor solve_triangular_self_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left,
                                      bool unitriangular);
// `B_dims`: the dimensions of the right sides, which tell whether they were vectors.
// The gradients of both sides; `with_A`: that of A is asked for.
std::vector<Tensor> solve_backward(const Tensor& grad, const Tensor& A, const Tensor& LU, const Tensor& pivots,
                                   const Tensor& X, bool left, int64_t B_dims, bool with_A);
Tensor det_backward(const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& LU, const Tensor& pivots);
// Any of several gradients may be undefined: nothing depends on that result.
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_logabsdet, const Tensor& A, const Tensor& sign,
                        const Tensor& LU, const Tensor& pivots);
Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& V);
Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& V);
Tensor svd_backward(const Tensor& grad_U, const Tensor& gS, const Tensor& grad_Vh, const Tensor& all_U, const Tensor& S,
                    const Tensor& all_Vh);
Tensor pinv_backward(const Tensor& grad, const Tensor& P, const Tensor& A);
std::vector<Tensor> lstsq_backward(const Tensor& grad, const Tensor& grad_residuals, const Tensor& A, const Tensor& b,
                                   const Tensor& solution, const Tensor& residuals, bool with_A);
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A);

// Fourier transforms.
Tensor fft_r2c_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef dim, int64_t normalization, bool onesided);
Tensor fft_c2r_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef dim, int64_t normalization);

// Convolutions (FunctionsConvolution.cpp).
Tensor convolution_input_backward(const Tensor& grad, const Tensor& weight, IntArrayRef input_sizes,
                                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                  int64_t groups);
Tensor convolution_weight_backward(const Tensor& grad, const Tensor& input, IntArrayRef weight_sizes,
                                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                   int64_t groups);
Tensor convolution_bias_backward(const Tensor& grad);

// torch.nn (FunctionsNN.cpp). Slopes of slopes of activations.
Tensor sigmoid_slope(const Tensor& self);
Tensor silu_curvature(const Tensor& self);
Tensor mish_curvature(const Tensor& self);
Tensor hardswish_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self);
Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& alpha,
                           const Scalar& scale, const Scalar& input_scale);
Tensor softplus_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Scalar& beta,
                                const Scalar& threshold);
Tensor glu_tangent(const Tensor& grad, const Tensor& self, int64_t dim);
Tensor glu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim);
Tensor hardtanh_backward(const Tensor& grad, const Tensor& self, const Scalar& min_val, const Scalar& max_val);
// `indices` count within the last `dims` dimensions of the input.
Tensor max_pool_backward(const Tensor& grad, const Tensor& indices, IntArrayRef sizes, int64_t dims);
Tensor adaptive_avg_pool_double_backward(const Tensor& grad, IntArrayRef output_sizes, int64_t dims);
Tensor im2col_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride);
Tensor col2im_backward(const Tensor& grad, IntArrayRef sizes, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride);
Tensor constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad);
// `mean` and `invstd` are those that the forward saved; with create_graph they are computed again,
// as functions of input.
// The gradients of input, weight and bias, those that are wanted.
std::vector<Tensor> batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                        const Tensor& mean, const Tensor& invstd, bool training, double eps,
                                        bool of_input, bool of_weights);
std::vector<Tensor> group_norm_backward(const std::vector<Tensor>& grads, const Tensor& input, const Tensor& weight,
                                        const Tensor& mean, const Tensor& invstd, int64_t batch, int64_t channels,
                                        int64_t elements, int64_t groups, double eps, bool of_input, bool of_weights);
Tensor normalize_rows_input_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                     const Tensor& weight, const Tensor& mean, const Tensor& scale, double eps,
                                     bool centered);
Tensor normalize_rows_weight_backward(const Tensor& grad, const Tensor& input, at::IntArrayRef normalized_shape,
                                      const Tensor& mean, const Tensor& scale, double eps, bool centered);
Tensor normalize_rows_bias_backward(const Tensor& grad, at::IntArrayRef normalized_shape);
// The gradients of query, key and value.
std::vector<Tensor> attention_backward(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                                       const Tensor& output, const Tensor& logsumexp, bool is_causal,
                                       const Tensor& mask, std::optional<double> scale);
// Of input, first states, weights and biases, in the order of `_recurrence`; `grads` of its outputs,
// of h and, of an LSTM, of c.
std::vector<Tensor> recurrence_backward(const std::vector<Tensor>& grads, const Tensor& input,
                                        const at::native::RecurrenceState& state,
                                        const at::native::RecurrenceWeights& weights, const Tensor& output,
                                        const Tensor& gates, const Tensor& kept, IntArrayRef batch_sizes, int64_t cell,
                                        bool reverse, bool needs_input);

// Shapes and views.
// Elements of storage from the first to the last that such a shape touches; 0 without elements.
int64_t storage_extent(IntArrayRef sizes, IntArrayRef strides);
Tensor as_strided_backward(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides,
                           int64_t self_offset, IntArrayRef size, IntArrayRef stride,
                           std::optional<int64_t> storage_offset);
Tensor permute_backward(const Tensor& grad, IntArrayRef dims);
Tensor select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, int64_t index);
Tensor slice_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step);
Tensor diagonal_backward(const Tensor& grad, IntArrayRef sizes, int64_t offset, int64_t dim1, int64_t dim2);
Tensor unfold_backward(const Tensor& grad, IntArrayRef sizes, int64_t dimension, int64_t size, int64_t step);
std::vector<Tensor> euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                                            const Tensor& result);
Tensor unbind_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                       int64_t dim);
Tensor split_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                      int64_t length, int64_t dim);
Tensor split_with_sizes_backward(const std::vector<Tensor>& grads, IntArrayRef sizes, const at::TensorOptions& options,
                                 IntArrayRef lengths, int64_t dim);
Tensor roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims);
std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<std::vector<int64_t>>& sizes,
                                 int64_t dim);
// Puts a list of gradients behind each other, from `first` on.
void move_into(std::vector<Tensor>& grad_inputs, size_t first, std::vector<Tensor>&& gradients);

// Indexing.
Tensor index_backward(const Tensor& grad, IntArrayRef sizes, TensorList indices);
Tensor index_put_self_backward(const Tensor& grad, TensorList indices, bool accumulate);
Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index);
Tensor gather_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index);
// Of the source of scatter_ and scatter_add_, which may be larger than `index`.
Tensor scatter_source_backward(const Tensor& grad, IntArrayRef source_sizes, int64_t dim,
                               const Tensor& index);

// The gradient where a number's integer lies between quant_min and quant_max, else 0.
Tensor fake_quantize_backward(const Tensor& grad, const Tensor& self, double scale, int64_t zero_point,
                              int64_t quant_min, int64_t quant_max);
Tensor fake_quantize_backward(const Tensor& grad, const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                              int64_t quant_min, int64_t quant_max);
Tensor fake_quantize_channels_backward(const Tensor& grad, const Tensor& self, const Tensor& scale,
                                       const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max);

// Softmax and losses.
Tensor softmax_double_backward_grad(const Tensor& grad, const Tensor& output, int64_t dim, bool log);
Tensor softmax_double_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output,
                                      int64_t dim, bool log);
Tensor binary_cross_entropy_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                     int64_t reduction);
Tensor binary_cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                                            const Tensor& weight, int64_t reduction);
Tensor smooth_l1_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
                               double beta);
// The gradient of grad_output: what the gradient of the scores is with 1 in its place, times `grad`.
Tensor multilabel_margin_loss_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                              const Tensor& target, int64_t reduction);
Tensor huber_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
                           double delta);
Tensor mse_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction);

// Sparse tensors.
Tensor sparse_constructor_values_backward(const Tensor& grad, const Tensor& places);
Tensor values_backward(const Tensor& grad, const Tensor& self);
Tensor to_layout_backward(const Tensor& grad, at::Layout layout);
Tensor to_dense_backward(const Tensor& grad, const Tensor& self, std::optional<bool> masked_grad);
Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask, at::Layout layout);
// grad @ mat2.t() where mat1, which is sparse, has values.
Tensor sparse_mm_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2);
// What `grad`, the gradient of a product's factor, has at the places of that factor.
Tensor sparse_matmul_backward(const Tensor& grad, const Tensor& like);
Tensor sparse_sum_backward(const Tensor& grad, const Tensor& self, IntArrayRef dims);
Tensor embedding_backward(const Tensor& grad, const Tensor& indices, IntArrayRef weight_sizes, int64_t padding_idx,
                          bool sparse);
Tensor embedding_sparse_backward(const Tensor& grad, const Tensor& indices, IntArrayRef weight_sizes,
                                 int64_t padding_idx);
Tensor embedding_bag_backward(const Tensor& grad, IntArrayRef weight_sizes, const Tensor& indices,
                              const Tensor& offsets, const Tensor& sizes, const Tensor& rows, bool scale_grad_by_freq,
                              int64_t number, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                              int64_t padding_idx);
Tensor embedding_bag_factors_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                      const Tensor& offsets, bool include_last_offset, int64_t padding_idx);

}  // namespace torch::autograd
