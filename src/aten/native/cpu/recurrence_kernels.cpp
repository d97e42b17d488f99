// One direction of a layer of a recurrent network: at each step a product of the state with its weights and the gates'
// functions, without a tensor in between. Threads share the batch, each of them goes through all steps; or, where the
// weights are too large for a processor's own cache, the columns of each product.

#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/Parallel.h>
#include <aten/native/cpu/CellRows.h>
#include <aten/native/cpu/Scratch.h>
#include <aten/native/cpu/bfloat16_products.h>
#include <aten/native/cpu/blas.h>
#include <aten/native/cpu/gathered_products.h>

#include <algorithm>
#include <memory>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/recurrence_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/VectorMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector of a row, or what is left of one: elements from `first` on.
template <typename T>
struct Piece {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  int64_t first;
  int64_t count;  // a vector's lanes, or fewer
  HWY_INLINE HWY_ATTR bool is_whole() const { return count >= static_cast<int64_t>(hn::Lanes(D())); }
  HWY_INLINE HWY_ATTR V load(const T* row) const {
    return is_whole() ? hn::LoadU(D(), row + first)
                      : hn::MaskedLoad(hn::FirstN(D(), static_cast<size_t>(count)), D(), row + first);
  }
  HWY_INLINE HWY_ATTR void store(V value, T* row) const {
    if (is_whole()) {
      hn::StoreU(value, D(), row + first);
    } else {
      hn::BlendedStore(value, hn::FirstN(D(), static_cast<size_t>(count)), D(), row + first);
    }
  }
};

template <typename T>
HWY_INLINE HWY_ATTR hn::Vec<hn::ScalableTag<T>> one() { return hn::Set(hn::ScalableTag<T>(), T(1)); }
// The slope of a sigmoid, and of a tanh, times a gradient; from their results.
template <typename V, typename T = hn::TFromV<V>>
HWY_INLINE HWY_ATTR V through_sigmoid(V gradient, V result) {
  return hn::Mul(hn::Mul(gradient, result), hn::Sub(one<T>(), result));
}
template <typename V, typename T = hn::TFromV<V>>
HWY_INLINE HWY_ATTR V through_tanh(V gradient, V result) {
  return hn::Mul(gradient, hn::NegMulAdd(result, result, one<T>()));
}

template <typename T>
HWY_ATTR void elman_forward(Cell cell, const CellForward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto sum = hn::Add(hn::Add(piece.load(at.gates), piece.load(at.b_ih)), piece.load(at.b_hh));
    // relu of NaN is NaN.
    const auto h =
        cell == Cell::Tanh ? tanh_vector(d, sum) : hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::Zero(d), sum);
    piece.store(h, at.h);
    piece.store(h, at.output);
  }
}

template <typename T>
HWY_ATTR void lstm_forward(const CellForward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto gate = [&](int64_t number) HWY_ATTR {
      const int64_t from = number * hidden;
      return hn::Add(hn::Add(piece.load(at.gates + from), piece.load(at.b_ih + from)), piece.load(at.b_hh + from));
    };
    const auto entry = sigmoid_vector(d, gate(0));
    const auto forget = sigmoid_vector(d, gate(1));
    const auto candidate = tanh_vector(d, gate(2));
    const auto exit = sigmoid_vector(d, gate(3));
    const auto c = hn::MulAdd(forget, piece.load(at.c), hn::Mul(entry, candidate));
    const auto h = hn::Mul(exit, tanh_vector(d, c));
    piece.store(entry, at.gates);
    piece.store(forget, at.gates + hidden);
    piece.store(candidate, at.gates + 2 * hidden);
    piece.store(exit, at.gates + 3 * hidden);
    piece.store(c, at.c);
    piece.store(c, at.kept);
    piece.store(h, at.h);
    piece.store(h, at.output);
  }
}

template <typename T>
HWY_ATTR void gru_forward(const CellForward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto gate = [&](int64_t number) HWY_ATTR {
      const int64_t from = number * hidden;
      return hn::Add(hn::Add(piece.load(at.gates + from), piece.load(at.b_ih + from)), piece.load(at.b_hh + from));
    };
    const auto reset = sigmoid_vector(d, gate(0));
    const auto update = sigmoid_vector(d, gate(1));
    const auto from_state = hn::Add(piece.load(at.kept), piece.load(at.b_hh + 2 * hidden));
    const auto from_input = hn::Add(piece.load(at.gates + 2 * hidden), piece.load(at.b_ih + 2 * hidden));
    const auto fresh = tanh_vector(d, hn::MulAdd(reset, from_state, from_input));
    const auto h = hn::MulAdd(hn::Sub(piece.load(at.h), fresh), update, fresh);
    piece.store(reset, at.gates);
    piece.store(update, at.gates + hidden);
    piece.store(fresh, at.gates + 2 * hidden);
    piece.store(from_state, at.kept);
    piece.store(h, at.h);
    piece.store(h, at.output);
  }
}

template <typename T>
HWY_ATTR void elman_backward(Cell cell, const CellBackward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto grad = piece.load(at.grad_h);
    const auto h = piece.load(at.output);
    const auto zero = hn::Zero(d);
    piece.store(cell == Cell::Tanh ? through_tanh(grad, h) : hn::IfThenElse(hn::Le(h, zero), zero, grad),
                at.grad_gates);
  }
}

template <typename T>
HWY_ATTR void lstm_backward(const CellBackward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto entry = piece.load(at.gates);
    const auto forget = piece.load(at.gates + hidden);
    const auto candidate = piece.load(at.gates + 2 * hidden);
    const auto exit = piece.load(at.gates + 3 * hidden);
    const auto squashed = tanh_vector(d, piece.load(at.kept));
    const auto grad_h = piece.load(at.grad_h);
    const auto grad_c = hn::Add(piece.load(at.grad_c), through_tanh(hn::Mul(grad_h, exit), squashed));
    piece.store(through_sigmoid(hn::Mul(grad_c, candidate), entry), at.grad_gates);
    piece.store(through_sigmoid(hn::Mul(grad_c, piece.load(at.before)), forget), at.grad_gates + hidden);
    piece.store(through_tanh(hn::Mul(grad_c, entry), candidate), at.grad_gates + 2 * hidden);
    piece.store(through_sigmoid(hn::Mul(grad_h, squashed), exit), at.grad_gates + 3 * hidden);
    piece.store(hn::Mul(grad_c, forget), at.grad_c);
    if (at.unprojected) piece.store(hn::Mul(exit, squashed), at.unprojected);
  }
}

template <typename T>
HWY_ATTR void gru_backward(const CellBackward<T>& at, int64_t hidden) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t first = 0; first < hidden; first += lanes) {
    const Piece<T> piece{first, hidden - first};
    const auto reset = piece.load(at.gates);
    const auto update = piece.load(at.gates + hidden);
    const auto fresh = piece.load(at.gates + 2 * hidden);
    const auto grad = piece.load(at.grad_h);
    const auto grad_fresh = through_tanh(hn::Mul(grad, hn::Sub(one<T>(), update)), fresh);
    const auto grad_update = through_sigmoid(hn::Mul(grad, hn::Sub(piece.load(at.before), fresh)), update);
    const auto grad_reset = through_sigmoid(hn::Mul(grad_fresh, piece.load(at.kept)), reset);
    for (T* to : {at.grad_gates, at.grad_state_gates}) {
      piece.store(grad_reset, to);
      piece.store(grad_update, to + hidden);
    }
    piece.store(grad_fresh, at.grad_gates + 2 * hidden);
    piece.store(hn::Mul(grad_fresh, reset), at.grad_state_gates + 2 * hidden);
    piece.store(hn::Mul(grad, update), at.grad_h);
  }
}

template <typename T>
HWY_ATTR void run_forward(Cell cell, const CellForward<T>& at, int64_t hidden) {
  if (cell == Cell::Lstm) return lstm_forward(at, hidden);
  if (cell == Cell::Gru) return gru_forward(at, hidden);
  elman_forward(cell, at, hidden);
}
template <typename T>
HWY_ATTR void run_backward(Cell cell, const CellBackward<T>& at, int64_t hidden) {
  if (cell == Cell::Lstm) return lstm_backward(at, hidden);
  if (cell == Cell::Gru) return gru_backward(at, hidden);
  elman_backward(cell, at, hidden);
}

void forward_float(Cell cell, const CellForward<float>& at, int64_t hidden) { run_forward(cell, at, hidden); }
void forward_double(Cell cell, const CellForward<double>& at, int64_t hidden) { run_forward(cell, at, hidden); }
void backward_float(Cell cell, const CellBackward<float>& at, int64_t hidden) { run_backward(cell, at, hidden); }
void backward_double(Cell cell, const CellBackward<double>& at, int64_t hidden) { run_backward(cell, at, hidden); }

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

namespace {

void step_forward(Cell cell, const CellForward<float>& at, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(forward_float)(cell, at, hidden);
}
void step_forward(Cell cell, const CellForward<double>& at, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(forward_double)(cell, at, hidden);
}
void step_backward(Cell cell, const CellBackward<float>& at, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(backward_float)(cell, at, hidden);
}
void step_backward(Cell cell, const CellBackward<double>& at, int64_t hidden) {
  HWY_DYNAMIC_DISPATCH(backward_double)(cell, at, hidden);
}

constexpr int64_t kWakingWork = 1 << 17;   // multiplications that are worth another thread
constexpr int64_t kOwnCache = 1 << 19;     // bytes of weights that a processor keeps near while it works on others
constexpr int64_t kFunctionGrain = 2048;   // elements of a state

// How the threads divide a recurrence.
struct Division {
  bool by_rows;
  int64_t grain;  // rows
};

Division divide(int64_t batch, int64_t steps, int64_t weights, int64_t bytes) {
  const int64_t row_work = std::max<int64_t>(1, steps * weights);
  const bool is_near = bytes <= kOwnCache || batch >= 32 * get_num_threads();
  return {steps > 1 && batch > 1 && is_near, std::max<int64_t>(1, kWakingWork / row_work)};
}

// Products with a matrix that stays the same over all steps: in panels if there are several. A matrix of bfloat16 is
// multiplied as it is, with rows that are rounded to it.
template <typename T>
class Product {
 public:
  // `columns` rows of `weight` from one on, transposed; or all of it, of so many columns. Undefined: there are none.
  Product(const Tensor& weight, int64_t first, bool transposed, int64_t depth, int64_t columns, int64_t steps)
      : weight_(weight), depth_(depth), columns_(weight.defined() ? columns : 0) {
    if (columns_ == 0) return;
    const int64_t leading = transposed ? depth : columns;
    if (std::is_same_v<T, float> && weight.dtype() == kBFloat16 && has_bfloat16_products()) {
      halves_ = {static_cast<const uint16_t*>(weight.data_ptr()) + first * depth, leading, transposed};
      lines_ = (depth + 1) / 2;
      if (steps == 1 || multiplies_by_mkl()) return;
    } else {
      weight_ = at::detail::to_dtype(weight, c10::CppTypeToScalarType<T>::value);
      right_ = {weight_.template data_ptr<T>() + first * depth, leading, transposed};
      lines_ = depth;
      if (steps == 1) return;
    }
    const int64_t width = panel_columns<T>();
    panels_ = scratch<T>(count() * lines_ * width);
    for (int64_t k = 0; k < lines_; ++k) depths_.push_back(halves_.data ? 2 * k : k);
    parallel_for(0, count(), std::max<int64_t>(1, kWakingWork / (depth * width)), [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) write(panel, panels_.get() + panel * lines_ * width);
    });
  }
  // to[i] = (fresh) or += (not) x[i] @ right, for `rows` rows.
  void multiply(const T* x, int64_t x_step, int64_t rows, T* to, int64_t to_step, bool fresh) const {
    if (rows == 0 || columns_ == 0) return;
    std::vector<uint16_t> rounded;  // pairs of numbers
    if constexpr (std::is_same_v<T, float>) {
      if (halves_.data) {
        rounded.resize(static_cast<size_t>(rows * 2 * lines_));
        round_to_bfloat16({x, x_step}, rows, depth_, {rounded.data(), 2 * lines_});
        x_step = 2 * lines_;
        if (!panels_) {
          return bfloat16_gemm(rows, columns_, depth_, 1, {rounded.data(), x_step, false}, halves_, fresh ? 0.0F : 1.0F,
                               to, to_step);
        }
      }
    }
    if (!panels_)
      return gemm(rows, columns_, depth_, T(1), {x, x_step, false}, right_, fresh ? T(0) : T(1), to, to_step);
    const int64_t width = panel_columns<T>();
    parallel_for(0, count(), std::max<int64_t>(1, kWakingWork / (rows * depth_ * width)),
                 [&](int64_t begin, int64_t end) {
                   std::vector<int64_t> starts(static_cast<size_t>(rows));
                   for (int64_t i = 0; i < rows; ++i) starts[static_cast<size_t>(i)] = i * x_step;
                   std::vector<T> edge;  // sums of a panel that is not full
                   for (int64_t panel = begin; panel < end; ++panel) {
                     const int64_t valid = std::min(width, columns_ - panel * width);
                     const T* const lines = panels_.get() + panel * lines_ * width;
                     const auto add = [&](Lines<T> sums) {
                       const Lines<const T> start = fresh ? zero_lines<T>() : Lines<const T>{sums.data, sums.step};
                       if constexpr (std::is_same_v<T, float>) {
                         if (halves_.data) {
                           return add_gathered_pairs(rounded.data(), starts.data(), rows, depths_.data(), lines_,
                                                     {reinterpret_cast<const uint32_t*>(lines), width}, valid, start,
                                                     sums);
                         }
                       }
                       add_gathered_product(x, starts.data(), rows, depths_.data(), lines_, {lines, width}, valid,
                                            start, sums);
                     };
                     T* place = to + panel * width;
                     if (valid % panel_step<T>() == 0) {
                       add({place, to_step});
                       continue;
                     }
                     edge.resize(static_cast<size_t>(rows * width));
                     for (int64_t i = 0; !fresh && i < rows; ++i)
                       std::copy_n(place + i * to_step, valid, edge.data() + i * width);
                     add({edge.data(), width});
                     for (int64_t i = 0; i < rows; ++i)
                       std::copy_n(edge.data() + i * width, valid, place + i * to_step);
                   }
                 });
  }

 private:
  int64_t count() const { return (columns_ + panel_columns<T>() - 1) / panel_columns<T>(); }
  void write(int64_t panel, T* to) const {
    const int64_t width = panel_columns<T>();
    const int64_t column = panel * width;
    const int64_t valid = std::min(width, columns_ - column);
    if (halves_.data) return write_pairs(halves_, depth_, column, valid, reinterpret_cast<uint32_t*>(to));
    if (valid < width) std::fill_n(to, depth_ * width, T(0));
    if (right_.transposed) {
      transpose_matrix(right_.data + column * right_.leading, right_.leading, valid, depth_, to, width);
    } else {
      for (int64_t k = 0; k < depth_; ++k)
        std::copy_n(right_.data + k * right_.leading + column, valid, to + k * width);
    }
  }

  Tensor weight_;  // keeps what the operands point to
  MatrixOperand<T> right_{};
  MatrixOperand<uint16_t> halves_{};  // in its place
  int64_t depth_;
  int64_t columns_;
  int64_t lines_ = 0;  // of panels: numbers, or pairs
  Scratch<T> panels_;
  std::vector<int64_t> depths_;
};

// The steps in the order in which they are made, and where the rows of each begin.
class Steps {
 public:
  explicit Steps(const Recurrence& recurrence) : sizes_(recurrence.batch_sizes), reverse_(recurrence.reverse) {
    starts_.reserve(sizes_.size());
    int64_t start = 0;
    for (const int64_t size : sizes_) {
      starts_.push_back(start);
      start += size;
    }
  }
  int64_t count() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t batch() const { return sizes_[0]; }
  int64_t at(int64_t turn) const { return reverse_ ? count() - 1 - turn : turn; }
  int64_t start(int64_t step) const { return starts_[static_cast<size_t>(step)]; }
  // Sequences of [begin, end) that are there.
  int64_t rows(int64_t step, int64_t begin, int64_t end) const {
    return std::max<int64_t>(0, std::min(end, sizes_[static_cast<size_t>(step)]) - begin);
  }
  // The row of a sequence at the turn before; -1: it begins at this turn.
  int64_t before(int64_t turn, int64_t sequence) const {
    if (turn == 0) return -1;
    const int64_t step = at(turn - 1);
    return sequence < sizes_[static_cast<size_t>(step)] ? start(step) + sequence : -1;
  }

 private:
  IntArrayRef sizes_;
  bool reverse_;
  std::vector<int64_t> starts_;
};

template <typename T>
T* data_of(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

template <typename T, typename Body>
void for_each_part(const Steps& steps, int64_t weights, Body body) {
  const Division division = divide(steps.batch(), steps.count(), weights, weights * static_cast<int64_t>(sizeof(T)));
  if (!division.by_rows) return body(0, steps.batch());
  parallel_for(0, steps.batch(), division.grain, body);
}

template <typename T>
void run_recurrence(const Tensor& output, const Tensor& gates, const Tensor& kept, const Tensor& h, const Tensor& c,
                    const Recurrence& recurrence) {
  const Cell cell = recurrence.cell;
  const RecurrenceWeights& weights = recurrence.weights;
  const Steps steps(recurrence);
  const int64_t width = gates.sizes()[1];
  const int64_t hidden = width / gates_of(cell);
  const int64_t states = h.sizes()[1];
  // The third gate of a Gru takes what comes from the state apart.
  const int64_t joined = cell == Cell::Gru ? 2 * hidden : width;
  const Product<T> to_gates(weights.w_hh, 0, true, states, joined, steps.count());
  const Product<T> to_third(weights.w_hh, joined, true, states, width - joined, steps.count());
  const Product<T> projection(weights.w_hr, 0, true, hidden, states, steps.count());
  const std::vector<T> none(static_cast<size_t>(width), T(0));
  const T* b_ih = weights.b_ih.defined() ? data_of<T>(weights.b_ih) : none.data();
  const T* b_hh = weights.b_hh.defined() ? data_of<T>(weights.b_hh) : none.data();
  for_each_part<T>(steps, width * states, [&](int64_t begin, int64_t end) {
    std::vector<T> unprojected(static_cast<size_t>(weights.w_hr.defined() ? (end - begin) * hidden : 0));
    for (int64_t turn = 0; turn < steps.count(); ++turn) {
      const int64_t step = steps.at(turn);
      const int64_t rows = steps.rows(step, begin, end);
      const int64_t first = steps.start(step) + begin;
      T* state = data_of<T>(h) + begin * states;
      T* step_gates = data_of<T>(gates) + first * width;
      T* step_kept = kept.defined() ? data_of<T>(kept) + first * hidden : nullptr;
      T* step_output = data_of<T>(output) + first * states;
      to_gates.multiply(state, states, rows, step_gates, width, false);
      to_third.multiply(state, states, rows, step_kept, hidden, true);
      parallel_for(0, rows, std::max<int64_t>(1, kFunctionGrain / hidden), [&](int64_t row, int64_t last) {
        for (; row < last; ++row) {
          T* made = unprojected.empty() ? nullptr : unprojected.data() + row * hidden;
          step_forward(cell,
                       CellForward<T>{step_gates + row * width, step_kept ? step_kept + row * hidden : nullptr, b_ih,
                                      b_hh, made ? made : state + row * states,
                                      c.defined() ? data_of<T>(c) + (begin + row) * hidden : nullptr,
                                      made ? made : step_output + row * states},
                       hidden);
        }
      });
      if (unprojected.empty()) continue;
      projection.multiply(unprojected.data(), hidden, rows, state, states, true);
      std::copy_n(state, rows * states, step_output);
    }
  });
}

template <typename T>
void run_recurrence_backward(const Tensor& grad_gates, const Tensor& grad_state_gates, const Tensor& grad_h,
                             const Tensor& grad_c, const Tensor& before, const Tensor& unprojected,
                             const Tensor& grad_projected, const Tensor& grad_output, const Tensor& output,
                             const Tensor& gates, const Tensor& kept, const Tensor& hx, const Tensor& cx,
                             const Recurrence& recurrence) {
  const Cell cell = recurrence.cell;
  const RecurrenceWeights& weights = recurrence.weights;
  const bool is_projected = weights.w_hr.defined();
  const Steps steps(recurrence);
  const int64_t width = gates.sizes()[1];
  const int64_t hidden = width / gates_of(cell);
  const int64_t states = hx.sizes()[1];
  const Product<T> to_state(weights.w_hh, 0, false, width, states, steps.count());
  const Product<T> unproject(weights.w_hr, 0, false, states, hidden, steps.count());
  for_each_part<T>(steps, width * states, [&](int64_t begin, int64_t end) {
    std::vector<T> grad_hidden(static_cast<size_t>(is_projected ? (end - begin) * hidden : 0));
    for (int64_t turn = steps.count() - 1; turn >= 0; --turn) {
      const int64_t step = steps.at(turn);
      const int64_t rows = steps.rows(step, begin, end);
      const int64_t first = steps.start(step) + begin;
      T* grad_state = data_of<T>(grad_h) + begin * states;
      if (grad_output.defined()) {
        const T* given = data_of<T>(grad_output) + first * states;
        for (int64_t i = 0; i < rows * states; ++i) grad_state[i] += given[i];
      }
      if (is_projected) {
        std::copy_n(grad_state, rows * states, data_of<T>(grad_projected) + first * states);
        unproject.multiply(grad_state, states, rows, grad_hidden.data(), hidden, true);
      }
      T* step_grad = data_of<T>(grad_gates) + first * width;
      T* step_grad_state = data_of<T>(grad_state_gates) + first * width;
      parallel_for(0, rows, std::max<int64_t>(1, kFunctionGrain / hidden), [&](int64_t row, int64_t last) {
        for (; row < last; ++row) {
          const int64_t place = first + row;
          const int64_t sequence = begin + row;
          const int64_t earlier = steps.before(turn, sequence);
          const T* h_before = earlier < 0 ? data_of<T>(hx) + sequence * states : data_of<T>(output) + earlier * states;
          std::copy_n(h_before, states, data_of<T>(before) + place * states);
          const T* c_before = !cx.defined() ? h_before
                              : earlier < 0 ? data_of<T>(cx) + sequence * hidden
                                            : data_of<T>(kept) + earlier * hidden;
          step_backward(cell,
                        CellBackward<T>{data_of<T>(gates) + place * width,
                                        kept.defined() ? data_of<T>(kept) + place * hidden : nullptr, c_before,
                                        data_of<T>(output) + place * states, step_grad + row * width,
                                        step_grad_state + row * width,
                                        is_projected ? grad_hidden.data() + row * hidden : grad_state + row * states,
                                        grad_c.defined() ? data_of<T>(grad_c) + sequence * hidden : nullptr,
                                        is_projected ? data_of<T>(unprojected) + place * hidden : nullptr},
                        hidden);
        }
      });
      to_state.multiply(step_grad_state, width, rows, grad_state, states, cell != Cell::Gru);
    }
  });
}

}  // namespace

void recurrence_kernel(const Tensor& output, const Tensor& gates, const Tensor& kept, const Tensor& h, const Tensor& c,
                       const Recurrence& recurrence) {
  dispatch_floating_types(gates.dtype(), "recurrence", [&](auto type) {
    run_recurrence<typename decltype(type)::type>(output, gates, kept, h, c, recurrence);
  });
}

void recurrence_backward_kernel(const Tensor& grad_gates, const Tensor& grad_state_gates, const Tensor& grad_h,
                                const Tensor& grad_c, const Tensor& before, const Tensor& unprojected,
                                const Tensor& grad_projected, const Tensor& grad_output, const Tensor& output,
                                const Tensor& gates, const Tensor& kept, const Tensor& hx, const Tensor& cx,
                                const Recurrence& recurrence) {
  dispatch_floating_types(gates.dtype(), "recurrence_backward", [&](auto type) {
    run_recurrence_backward<typename decltype(type)::type>(grad_gates, grad_state_gates, grad_h, grad_c, before,
                                                           unprojected, grad_projected, grad_output, output, gates,
                                                           kept, hx, cx, recurrence);
  });
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
