// Recurrent networks: LSTM, GRU and Elman's, their cells, and one direction of a layer, which all of them are made of.

#include <aten/native/Recurrence.h>

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/RunKernel.h>

#include <algorithm>

namespace at::native {

namespace {

bool has_shape(const Tensor& tensor, IntArrayRef shape) { return tensor.sizes() == shape; }

// Whether the kernel takes these operands. What it does not take is computed by operators,
// which also say what is wrong.
bool has_kernel(Cell cell, const Tensor& input, const RecurrenceState& state, const RecurrenceWeights& weights,
                IntArrayRef batch_sizes) {
  const bool is_lstm = cell == Cell::Lstm;
  if (!recurrence_kernels.has(input.device_type()) || !is_floating_type(input.dtype()) || batch_sizes.empty())
    return false;
  if (input.dim() != 2 || weights.w_ih.dim() != 2 || weights.w_hh.dim() != 2 || state.c.defined() != is_lstm)
    return false;
  int64_t rows = 0;
  for (size_t step = 0; step < batch_sizes.size(); ++step) {
    if (batch_sizes[step] < 0 || (step > 0 && batch_sizes[step] > batch_sizes[step - 1])) return false;
    rows += batch_sizes[step];
  }
  const int64_t gates = weights.w_ih.sizes()[0];
  const int64_t hidden = gates / gates_of(cell);
  const int64_t states = weights.w_hh.sizes()[1];
  const auto is_alike = [&](std::initializer_list<const Tensor*> operands, bool may_be_wide) {
    return std::all_of(operands.begin(), operands.end(), [&](const Tensor* operand) {
      return !operand->defined() ||
             (operand->device() == input.device() &&
              (operand->dtype() == input.dtype() || (may_be_wide && operand->dtype() == kFloat)));
    });
  };
  const bool may_be_wide = c10::is_reduced_floating_type(input.dtype());
  const auto is_bias = [&](const Tensor& bias) { return !bias.defined() || has_shape(bias, {gates}); };
  return is_alike({&weights.w_ih, &weights.w_hh, &weights.b_ih, &weights.b_hh, &weights.w_hr}, false) &&
         is_alike({&state.h, &state.c}, may_be_wide) && hidden > 0 && hidden * gates_of(cell) == gates &&
         has_shape(input, {rows, weights.w_ih.sizes()[1]}) && has_shape(weights.w_hh, {gates, states}) &&
         is_bias(weights.b_ih) && is_bias(weights.b_hh) && has_shape(state.h, {batch_sizes[0], states}) &&
         (!is_lstm || has_shape(state.c, {batch_sizes[0], hidden})) &&
         (weights.w_hr.defined() ? is_lstm && has_shape(weights.w_hr, {states, hidden}) : states == hidden);
}

// In the type that is computed in, and contiguous.
Tensor as_operand(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  return at::detail::to_contiguous(c10::is_reduced_floating_type(tensor.dtype()) ? at::detail::to_dtype(tensor, kFloat)
                                                                                 : tensor);
}

Recurrence describe(Cell cell, const RecurrenceWeights& weights, IntArrayRef batch_sizes, bool reverse) {
  // The CPU's kernels multiply bfloat16 as it is.
  const bool is_kept = weights.w_hh.is_cpu() && weights.w_hh.dtype() == kBFloat16;
  const Tensor w_hh = is_kept ? at::detail::to_contiguous(weights.w_hh) : as_operand(weights.w_hh);
  return {cell, reverse, batch_sizes,
          {{}, w_hh, as_operand(weights.b_ih), as_operand(weights.b_hh), as_operand(weights.w_hr)}};
}

// A copy that is the kernel's to write.
Tensor writable(const Tensor& state, ScalarType dtype) {
  if (!state.defined()) return state;
  Tensor copy = at::detail::empty(state.sizes(), dtype, state.device());
  at::detail::copy_into(copy, state);
  return copy;
}

Tensor rounded(const Tensor& tensor, ScalarType dtype) {
  return tensor.defined() ? at::detail::to_dtype(tensor, dtype) : tensor;
}

Cell cell_of(int64_t number) {
  TORCH_CHECK(number >= 0 && number <= static_cast<int64_t>(Cell::Gru), "_recurrence: there is no cell ", number);
  return static_cast<Cell>(number);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _recurrence(const Tensor& input, const Tensor& hx, const Tensor& cx,
                                                               const Tensor& w_ih, const Tensor& w_hh,
                                                               const Tensor& b_ih, const Tensor& b_hh,
                                                               const Tensor& w_hr, IntArrayRef batch_sizes,
                                                               int64_t cell, bool reverse) {
  const Cell kind = cell_of(cell);
  const RecurrenceWeights weights{w_ih, w_hh, b_ih, b_hh, w_hr};
  TORCH_CHECK(has_kernel(kind, input, {hx, cx}, weights, batch_sizes), "_recurrence: operands do not fit: input ",
              input.sizes(), ", state ", hx.sizes(), ", weights ", w_ih.sizes(), " and ", w_hh.sizes());
  const ScalarType dtype = input.dtype() == kDouble ? kDouble : kFloat;
  const int64_t rows = input.sizes()[0];
  const int64_t hidden = w_ih.sizes()[0] / gates_of(kind);
  const auto empty = [&](int64_t columns) { return at::detail::empty({rows, columns}, dtype, input.device()); };
  const Tensor gates = empty(w_ih.sizes()[0]);
  // bfloat16 is multiplied as it is, into float32.
  const bool widens = input.dtype() == kHalf;
  run_kernel(gemm_kernels, input.device(), gates, widens ? as_operand(input) : input,
             (widens ? as_operand(w_ih) : w_ih).t(), Scalar(0), Scalar(1));
  const Tensor output = empty(w_hh.sizes()[1]);
  const Tensor kept = kind == Cell::Lstm || kind == Cell::Gru ? empty(hidden) : Tensor();
  const Tensor h = writable(hx, dtype);
  const Tensor c = writable(cx, dtype);
  run_kernel(recurrence_kernels, input.device(), output, gates, kept, h, c,
             describe(kind, weights, batch_sizes, reverse));
  return {rounded(output, input.dtype()), rounded(h, input.dtype()),
          rounded(c, cx.defined() ? cx.dtype() : input.dtype()), gates, kept};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _recurrence_backward(
    const Tensor& grad_output, const Tensor& grad_h, const Tensor& grad_c, const Tensor& output, const Tensor& hx,
    const Tensor& cx, const Tensor& w_hh, const Tensor& w_hr, const Tensor& gates, const Tensor& kept,
    IntArrayRef batch_sizes, int64_t cell, bool reverse) {
  const Cell kind = cell_of(cell);
  const ScalarType dtype = gates.dtype();
  const int64_t rows = gates.sizes()[0];
  const int64_t states = w_hh.sizes()[1];
  const auto empty = [&](int64_t columns) { return at::detail::empty({rows, columns}, dtype, gates.device()); };
  const auto gradient_of = [&](const Tensor& state, const Tensor& given) {
    if (!state.defined()) return state;
    return given.defined() ? writable(given, dtype) : at::zeros(state.sizes(), state.options().dtype(dtype));
  };
  const Tensor grad_gates = empty(gates.sizes()[1]);
  const Tensor grad_state_gates = kind == Cell::Gru ? empty(gates.sizes()[1]) : grad_gates;
  const Tensor grad_hx = gradient_of(hx, grad_h);
  const Tensor grad_cx = gradient_of(cx, grad_c);
  const Tensor before = empty(states);
  const Tensor unprojected = w_hr.defined() ? empty(w_hr.sizes()[1]) : Tensor();
  const Tensor grad_projected = w_hr.defined() ? empty(states) : Tensor();
  run_kernel(recurrence_backward_kernels, gates.device(), grad_gates, grad_state_gates, grad_hx, grad_cx, before,
             unprojected, grad_projected, as_operand(grad_output), as_operand(output), gates, kept, as_operand(hx),
             as_operand(cx), describe(kind, {{}, w_hh, {}, {}, w_hr}, batch_sizes, reverse));
  return {grad_gates, grad_state_gates, grad_hx, grad_cx, before, unprojected, grad_projected};
}

// ---------------------------------------------------------------- of operators

namespace {

// One step: what the input adds to the gates, the state before -> the state after.
RecurrenceState step_by_operators(Cell cell, const Tensor& input_gates, const RecurrenceState& state,
                                  const RecurrenceWeights& weights) {
  const Tensor state_gates = at::linear(state.h, weights.w_hh, weights.b_hh);
  if (cell == Cell::Tanh || cell == Cell::Relu) {
    const Tensor sum = at::add(state_gates, input_gates);
    return {cell == Cell::Tanh ? at::tanh(sum) : at::relu(sum), {}};
  }
  if (cell == Cell::Gru) {
    const std::vector<Tensor> from_input = at::chunk(input_gates, 3, -1);
    const std::vector<Tensor> from_state = at::chunk(state_gates, 3, -1);
    const Tensor reset = at::sigmoid(at::add(from_state[0], from_input[0]));
    const Tensor update = at::sigmoid(at::add(from_state[1], from_input[1]));
    const Tensor fresh = at::tanh(at::add(from_input[2], at::mul(from_state[2], reset)));
    return {at::add(at::mul(at::sub(state.h, fresh), update), fresh), {}};
  }
  const std::vector<Tensor> gates = at::chunk(at::add(state_gates, input_gates), 4, -1);
  const Tensor c = at::add(at::mul(at::sigmoid(gates[1]), state.c), at::mul(at::sigmoid(gates[0]), at::tanh(gates[2])));
  const Tensor h = at::mul(at::sigmoid(gates[3]), at::tanh(c));
  return {weights.w_hr.defined() ? at::linear(h, weights.w_hr) : h, c};
}

Tensor first_rows(const Tensor& state, int64_t count) { return state.defined() ? state.narrow(0, 0, count) : state; }

// `moved`, and behind it the rows of `state` that have not.
Tensor with_rest(const Tensor& moved, const Tensor& state) {
  if (!state.defined()) return moved;
  const int64_t count = moved.size(0);
  return at::cat({moved, state.narrow(0, count, state.size(0) - count)});
}

}  // namespace

std::pair<Tensor, RecurrenceState> run_recurrence_by_operators(Cell cell, const Tensor& input, RecurrenceState state,
                                                               const RecurrenceWeights& weights,
                                                               IntArrayRef batch_sizes, bool reverse) {
  const std::vector<Tensor> steps = at::split_with_sizes(at::linear(input, weights.w_ih, weights.b_ih), batch_sizes);
  std::vector<Tensor> outputs(steps.size());
  for (size_t turn = 0; turn < steps.size(); ++turn) {
    const size_t step = reverse ? steps.size() - 1 - turn : turn;
    const int64_t count = batch_sizes[step];
    const bool is_whole = count >= batch_sizes[0];
    const RecurrenceState before =
        is_whole ? state : RecurrenceState{first_rows(state.h, count), first_rows(state.c, count)};
    const RecurrenceState after = step_by_operators(cell, steps[step], before, weights);
    outputs[step] = after.h;
    state = is_whole ? after : RecurrenceState{with_rest(after.h, state.h), with_rest(after.c, state.c)};
  }
  return {at::cat(outputs), state};
}

// ---------------------------------------------------------------- layers

namespace {

std::pair<Tensor, RecurrenceState> run_recurrence(Cell cell, const Tensor& input, const RecurrenceState& state,
                                                  const RecurrenceWeights& weights, IntArrayRef batch_sizes,
                                                  bool reverse) {
  if (!has_kernel(cell, input, state, weights, batch_sizes)) {
    return run_recurrence_by_operators(cell, input, state, weights, batch_sizes, reverse);
  }
  auto [output, h, c, gates, kept] =
      at::_recurrence(input, state.h, state.c, weights.w_ih, weights.w_hh, weights.b_ih, weights.b_hh, weights.w_hr,
                      batch_sizes, static_cast<int64_t>(cell), reverse);
  return {output, {h, c}};
}

// The weights of every layer and direction, as they come in a row.
std::vector<RecurrenceWeights> group(TensorList params, bool has_biases, bool has_projections) {
  const size_t each = 2 + (has_biases ? 2 : 0) + (has_projections ? 1 : 0);
  TORCH_CHECK(params.size() % each == 0, "got an incorrect number of RNN parameters");
  std::vector<RecurrenceWeights> groups;
  for (size_t first = 0; first < params.size(); first += each) {
    RecurrenceWeights weights{params[first], params[first + 1], {}, {}, {}};
    if (has_biases) {
      weights.b_ih = params[first + 2];
      weights.b_hh = params[first + 3];
    }
    if (has_projections) weights.w_hr = params[first + each - 1];
    groups.push_back(std::move(weights));
  }
  return groups;
}

struct Options {
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

Tensor stacked(const std::vector<Tensor>& states) {
  return states.size() == 1 ? states[0].unsqueeze(0) : at::stack(states);
}

// All layers: input (rows, features), first states (layers * directions, batch, size).
std::pair<Tensor, RecurrenceState> run_layers(Cell cell, Tensor input, const RecurrenceState& first, TensorList params,
                                              const Options& options, IntArrayRef batch_sizes) {
  const size_t directions = options.bidirectional ? 2 : 1;
  const bool has_projections = cell == Cell::Lstm && first.h.size(2) != first.c.size(2);
  const std::vector<RecurrenceWeights> weights = group(params, options.has_biases, has_projections);
  TORCH_CHECK(options.num_layers > 0, "num_layers must be greater than zero, but got ", options.num_layers);
  const auto layers = static_cast<size_t>(options.num_layers);
  TORCH_CHECK(weights.size() >= layers * directions, "got an incorrect number of RNN parameters");
  for (const Tensor* states : {&first.h, &first.c}) {
    TORCH_CHECK(!states->defined() || states->size(0) == static_cast<int64_t>(layers * directions),
                "Expected more hidden states in stacked_rnn");
  }
  std::vector<Tensor> last_h;
  std::vector<Tensor> last_c;
  for (size_t layer = 0; layer < layers; ++layer) {
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < directions; ++direction) {
      const auto number = static_cast<int64_t>(layer * directions + direction);
      const RecurrenceState state{first.h.select(0, number), first.c.defined() ? first.c.select(0, number) : first.c};
      auto [output, last] =
          run_recurrence(cell, input, state, weights[layer * directions + direction], batch_sizes, direction == 1);
      outputs.push_back(std::move(output));
      last_h.push_back(std::move(last.h));
      last_c.push_back(std::move(last.c));
    }
    input = directions == 1 ? outputs[0] : at::cat(outputs, -1);
    if (options.dropout != 0 && options.train && layer + 1 < layers) input = at::dropout(input, options.dropout, true);
  }
  return {std::move(input), {stacked(last_h), cell == Cell::Lstm ? stacked(last_c) : Tensor()}};
}

std::pair<Tensor, RecurrenceState> run_padded(Cell cell, const Tensor& given, const RecurrenceState& first,
                                              TensorList params, const Options& options, bool batch_first) {
  TORCH_CHECK_INDEX(given.dim() >= 3, "Dimension out of range (expected to be in range of [", -given.dim(), ", ",
                    given.dim() - 1, "], but got 2)");
  TORCH_CHECK(given.dim() == 3, "input must have 3 dimensions, got ", given.dim());
  const Tensor input = batch_first ? given.transpose(0, 1) : given;
  const int64_t steps = input.size(0);
  const int64_t batch = input.size(1);
  TORCH_CHECK(steps > 0, "Expected sequence length to be larger than 0 in RNN");
  const std::vector<int64_t> batch_sizes(static_cast<size_t>(steps), batch);
  auto [rows, last] =
      run_layers(cell, input.reshape({steps * batch, input.size(2)}), first, params, options, batch_sizes);
  const Tensor output = rows.view({steps, batch, rows.size(1)});
  return {batch_first ? output.transpose(0, 1) : output, std::move(last)};
}

std::pair<Tensor, RecurrenceState> run_packed(Cell cell, const Tensor& data, const Tensor& batch_sizes,
                                              const RecurrenceState& first, TensorList params, const Options& options) {
  TORCH_CHECK(data.dim() == 2, "input must have 2 dimensions, got ", data.dim());
  TORCH_CHECK(batch_sizes.dim() == 1, "batch_sizes tensor should be 1D, but got ", batch_sizes.dim(), "D");
  TORCH_CHECK(batch_sizes.is_cpu(), "batch_sizes tensor should be on CPU, but got ", batch_sizes.device());
  TORCH_CHECK(batch_sizes.dtype() == kLong, "expected scalar type Long but found ", batch_sizes.dtype());
  const Tensor sizes = batch_sizes.contiguous();
  const IntArrayRef counts(sizes.data_ptr<int64_t>(), static_cast<size_t>(sizes.numel()));
  TORCH_CHECK(!counts.empty(), "Expected sequence length to be larger than 0 in RNN");
  int64_t rows = 0;
  for (size_t step = 0; step < counts.size(); ++step) {
    TORCH_CHECK(counts[step] >= 0 && (step == 0 || counts[step] <= counts[step - 1]),
                "batch_sizes must not be negative or grow, but got ", counts);
    rows += counts[step];
  }
  TORCH_CHECK(rows == data.size(0), "Expected the batch sizes to add up to ", data.size(0), " rows of data, but got ",
              counts);
  for (const Tensor* states : {&first.h, &first.c}) {
    TORCH_CHECK(!states->defined() || (states->dim() == 3 && states->size(1) == counts[0]), "The size of tensor a (",
                counts[0], ") must match the size of the states, but got ", states->sizes());
  }
  return run_layers(cell, data, first, params, options, counts);
}

RecurrenceState lstm_state(TensorList hx, const char* name) {
  TORCH_CHECK(hx.size() == 2, name, " expects two hidden states");
  return {hx[0], hx[1]};
}

std::tuple<Tensor, Tensor> with_one_state(std::pair<Tensor, RecurrenceState> result) {
  return {std::move(result.first), std::move(result.second.h)};
}
std::tuple<Tensor, Tensor, Tensor> with_two_states(std::pair<Tensor, RecurrenceState> result) {
  return {std::move(result.first), std::move(result.second.h), std::move(result.second.c)};
}

// One step is a sequence of one step.
RecurrenceState run_cell(Cell cell, const Tensor& input, const RecurrenceState& state,
                         const RecurrenceWeights& weights) {
  const int64_t hidden = state.h.size(1);
  TORCH_CHECK(input.size(1) == weights.w_ih.size(1), "input has inconsistent input_size: got ", input.size(1),
              " expected ", weights.w_ih.size(1));
  int64_t number = 0;
  for (const Tensor* part : {&state.h, &state.c}) {
    if (!part->defined()) continue;
    TORCH_CHECK(part->size(0) == input.size(0), "Input batch size ", input.size(0), " doesn't match hidden", number,
                " batch size ", part->size(0));
    TORCH_CHECK(part->size(1) == weights.w_hh.size(1), "hidden", number, " has inconsistent hidden_size: got ",
                part->size(1), ", expected ", weights.w_hh.size(1));
    ++number;
  }
  for (const auto& [name, weight] :
       {std::make_pair("weight_ih", &weights.w_ih), std::make_pair("weight_hh", &weights.w_hh)}) {
    TORCH_CHECK(weight->size(0) == gates_of(cell) * hidden, name, " first dim must be ", gates_of(cell),
                " * hidden_size = ", gates_of(cell) * hidden, ", but got ", weight->size(0));
  }
  if (input.dim() != 2 || state.h.dim() != 2) {
    return step_by_operators(cell, at::linear(input, weights.w_ih, weights.b_ih), state, weights);
  }
  return run_recurrence(cell, input, state, weights, {input.size(0)}, false).second;
}

}  // namespace

#define TORCH_RECURRENT_NETWORK(name, cell)                                                                          \
  std::tuple<Tensor, Tensor> name##_input(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, \
                                          int64_t num_layers, double dropout, bool train, bool bidirectional,        \
                                          bool batch_first) {                                                        \
    return with_one_state(run_padded(cell, input, {hx, {}}, params,                                                  \
                                     {has_biases, num_layers, dropout, train, bidirectional}, batch_first));         \
  }                                                                                                                  \
  std::tuple<Tensor, Tensor> name##_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,            \
                                         TensorList params, bool has_biases, int64_t num_layers, double dropout,     \
                                         bool train, bool bidirectional) {                                           \
    return with_one_state(run_packed(cell, data, batch_sizes, {hx, {}}, params,                                      \
                                     {has_biases, num_layers, dropout, train, bidirectional}));                      \
  }                                                                                                                  \
  Tensor name##_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,                  \
                     const Tensor& b_ih, const Tensor& b_hh) {                                                       \
    return run_cell(cell, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;                                          \
  }
TORCH_RECURRENT_NETWORK(rnn_tanh, Cell::Tanh)
TORCH_RECURRENT_NETWORK(rnn_relu, Cell::Relu)
TORCH_RECURRENT_NETWORK(gru, Cell::Gru)
#undef TORCH_RECURRENT_NETWORK

std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                              int64_t num_layers, double dropout, bool train, bool bidirectional,
                                              bool batch_first) {
  return with_two_states(run_padded(Cell::Lstm, input, lstm_state(hx, "lstm"), params,
                                    {has_biases, num_layers, dropout, train, bidirectional}, batch_first));
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                             TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                             bool train, bool bidirectional) {
  return with_two_states(run_packed(Cell::Lstm, data, batch_sizes, lstm_state(hx, "lstm"), params,
                                    {has_biases, num_layers, dropout, train, bidirectional}));
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh) {
  RecurrenceState after = run_cell(Cell::Lstm, input, lstm_state(hx, "lstm_cell"), {w_ih, w_hh, b_ih, b_hh, {}});
  return {std::move(after.h), std::move(after.c)};
}

}  // namespace at::native
