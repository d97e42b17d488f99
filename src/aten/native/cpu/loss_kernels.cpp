// Negative log likelihood of scores [N, C] or [N, C, places] for a target each.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>

namespace at::native::cpu {

namespace {

// Where the scores of samples are: `places` samples one behind the other, then the next such row.
struct Places {
  int64_t classes;
  int64_t places;
  int64_t step;    // from the scores of a sample to those of the next one
  int64_t row;     // from a row of samples to the next one
  int64_t column;  // from a class to the next one

  Places(const Tensor& scores, int64_t samples) : classes(scores.sizes()[1]), column(scores.strides()[1]) {
    const bool is_row = scores.dim() < 3;
    places = is_row ? samples : scores.sizes()[2];
    step = is_row ? scores.strides()[0] : scores.strides()[2];
    row = is_row ? 0 : scores.strides()[0];
  }

  // body(sample, class, where its score is), or ignored(sample) where its target does not count.
  template <typename Body, typename Ignored>
  void for_each(const Tensor& target, int64_t ignore_index, const Ignored& ignored, const Body& body) const {
    const auto* wanted = target.data_ptr<int64_t>();
    const int64_t samples = target.numel();
    for (int64_t i = 0, first = 0; i < samples; first += row) {
      for (int64_t place = 0; place < places; ++place, ++i) {
        const int64_t label = wanted[i];
        if (label == ignore_index) {  // which may be no class at all
          ignored(i);
          continue;
        }
        TORCH_CHECK_INDEX(label >= 0 && label < classes, "Target ", label, " is out of bounds.");
        body(i, label, first + place * step + label * column);
      }
    }
  }
};

// body(tag of what is computed, tag of what is in memory): the same, or float for float16 and bfloat16.
template <typename Body>
void dispatch_loss_types(ScalarType computed, ScalarType stored, const char* function, const Body& body) {
  if (stored == kHalf) return body(TypeTag<float>(), TypeTag<c10::Half>());
  if (stored == kBFloat16) return body(TypeTag<float>(), TypeTag<c10::BFloat16>());
  dispatch_floating_types(computed, function, [&](auto type) { body(type, type); });
}

}  // namespace

// Losses, and the weights that counted, are float32 where scores are float16 or bfloat16.
void nll_loss_kernel(const Tensor& losses, const Tensor& weights, const Tensor& self, const Tensor& target,
                     const Tensor& weight, int64_t ignore_index) {
  const Places places(self, target.numel());
  dispatch_loss_types(losses.dtype(), self.dtype(), "nll_loss_out_frame", [&](auto type, auto stored) {
    using scalar_t = typename decltype(type)::type;
    const auto* scores = self.data_ptr<typename decltype(stored)::type>();
    const scalar_t* class_weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    scalar_t* loss = losses.data_ptr<scalar_t>();
    scalar_t* counted = weights.defined() ? weights.data_ptr<scalar_t>() : nullptr;
    const auto write = [=](int64_t sample, scalar_t value, scalar_t factor) {
      loss[sample] = value;
      if (counted) counted[sample] = factor;
    };
    const auto ignored = [&](int64_t sample) { write(sample, scalar_t(0), scalar_t(0)); };
    places.for_each(target, ignore_index, ignored, [&](int64_t sample, int64_t label, int64_t place) {
      const scalar_t factor = class_weights ? class_weights[label] : scalar_t(1);
      write(sample, -static_cast<scalar_t>(scores[place]) * factor, factor);
    });
  });
}

void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& target,
                              const Tensor& weight, int64_t ignore_index) {
  const Places places(grad_input, target.numel());
  dispatch_loss_types(grad_losses.dtype(), grad_input.dtype(), "nll_loss_backward_out_frame",
                      [&](auto type, auto stored) {
    using scalar_t = typename decltype(type)::type;
    using stored_t = typename decltype(stored)::type;
    const scalar_t* grad = grad_losses.data_ptr<scalar_t>();
    const scalar_t* class_weights = weight.defined() ? weight.data_ptr<scalar_t>() : nullptr;
    auto* result = grad_input.data_ptr<stored_t>();
    places.for_each(target, ignore_index, [](int64_t) {}, [&](int64_t sample, int64_t label, int64_t place) {
      result[place] = static_cast<stored_t>(-grad[sample] * (class_weights ? class_weights[label] : scalar_t(1)));
    });
  });
}

}  // namespace at::native::cpu
