// The vector field dh/dt = N3(conv2(g(N2(conv1(g(N1(h)), t))), t)) of one image, and its derivative. Equation 2 of the
// paper, with normalisation and activation before each convolution as in the public code.
#pragma once

#include <algorithm>

#include "accumulator.h"
#include "norm.h"
#include "pixel.h"
#include "separable.h"

namespace dcnbio {

// What an evaluation leaves for its derivative: the two convolutions' outputs and the mixed maps between filters.
template <class T>
struct Tape {
  T* output[2];
  T* mixed[2];
  Moments<T> moments[3];
};

template <class T>
class Field {
 public:
  // One per thread. Buffers come from the thread's scratch.
  Field(const DcnbioField& spec, Scratch& scratch) : spec_(spec), geometry_(geometry_of<T>(spec)) {
    activated_ = scratch.take<T>(geometry_.size());
    backward_ = scratch.take<T>(geometry_.size());
    for (int i = 0; i < 3; ++i) {
      T* affine = scratch.take<T>(2 * geometry_.padded);
      std::fill(affine, affine + 2 * geometry_.padded, T(0));
      const auto channels = static_cast<size_t>(geometry_.channels);
      std::copy_n(static_cast<const T*>(spec.norm_weight[i]), channels, affine);
      std::copy_n(static_cast<const T*>(spec.norm_bias[i]), channels, affine + geometry_.padded);
      norm_[i] = {affine, affine + geometry_.padded, geometry_.channels, geometry_.padded, spec.groups, spec.epsilon};
    }
    for (int i = 0; i < 2; ++i) {
      const DcnbioConvolution& c = spec.convolution[i];
      if (c.kind == kSeparable) {
        banks_[i] = scratch.take<T>(2 * bank_elements(c));
        taps_gradient_[i] = scratch.take<double>(2 * bank_elements(c));
        separable_[i] = SeparableBuffers<T>(geometry_, c.order + 1, scratch);
      } else {
        pixel_[i] = PixelBuffers<T>(geometry_, c.size / 2, scratch);
      }
    }
  }

  const Geometry& geometry() const { return geometry_; }
  WorkClock& clock() { return clock_; }

  Tape<T> new_tape(Scratch& scratch) const {
    Tape<T> tape;
    for (int i = 0; i < 2; ++i) {
      tape.output[i] = scratch.take<T>(geometry_.size());
      const DcnbioConvolution& c = spec_.convolution[i];
      tape.mixed[i] = c.kind == kSeparable ? scratch.take<T>((c.order + 1) * geometry_.size()) : nullptr;
    }
    for (Moments<T>& m : tape.moments) {
      T* rows = scratch.take<T>(4 * geometry_.padded);
      m = {rows, rows + geometry_.padded, rows + 2 * geometry_.padded, rows + 3 * geometry_.padded};
    }
    return tape;
  }

  // f = field(time, h); stage picks the taps and weights where they differ between stages.
  void evaluate(long image, int stage, T time, const T* h, T* f, Tape<T>& tape) {
    const int pixels = geometry_.pixels();
    const T* in = h;
    for (int i = 0; i < 2; ++i) {
      measure(norm_[i], in, pixels, tape.moments[i]);
      apply(norm_[i], spec_.activation, in, activated_, pixels, tape.moments[i]);
      clock_.lap(kNormWork);
      convolve_forward(i, image, stage, time, activated_, tape.mixed[i], tape.output[i]);
      in = tape.output[i];
    }
    measure(norm_[2], in, pixels, tape.moments[2]);
    apply(norm_[2], kIdentity, in, f, pixels, tape.moments[2]);
    clock_.lap(kNormWork);
  }

  // gradient: d/df on entry, d/dh on return; h, time and tape as evaluate had and left them.
  void backpropagate(long image, int stage, T time, const T* h, Tape<T>& tape, T* gradient, Accumulator<T>& sums) {
    const int pixels = geometry_.pixels();
    T *from = gradient, *to = backward_;
    apply_gradient<T>(norm_[2], kIdentity, tape.output[1], nullptr, from, pixels, tape.moments[2], sums.norm_weight(2),
                      sums.norm_bias(2));
    for (int i = 1; i >= 0; --i) {
      const T* in = i ? tape.output[0] : h;
      apply(norm_[i], spec_.activation, in, activated_, pixels, tape.moments[i]);
      clock_.lap(kNormWork);
      convolve_backward(i, image, stage, time, tape.mixed[i], from, to, sums);
      std::swap(from, to);
      apply_gradient(norm_[i], spec_.activation, in, activated_, from, pixels, tape.moments[i], sums.norm_weight(i),
                     sums.norm_bias(i));
      clock_.lap(kNormWork);
    }
  }

 private:
  static long bank_elements(const DcnbioConvolution& c) {
    return static_cast<long>(c.size / 2 + 1) * (c.order + 1);
  }

  SeparableKernel<T> separable_kernel(int i, long image, int stage) {
    const DcnbioConvolution& c = spec_.convolution[i];
    T *bank = banks_[i], *adjoint_bank = bank + bank_elements(c);
    const T* taps = static_cast<const T*>(c.taps) + image * c.taps_image_stride + stage * c.taps_stage_stride;
    project_taps(taps, c.order + 1, c.size / 2, bank, adjoint_bank);
    const T* packed = packed_set(c, stage);
    const long panel = panel_elements(geometry_, c);
    return {c.size / 2, bank, adjoint_bank, packed, adjoint_set(c, stage), packed + panel};
  }

  PixelKernel<T> pixel_kernel(int i, int stage) const {
    const DcnbioConvolution& c = spec_.convolution[i];
    const T* packed = packed_set(c, stage);
    const long panel = panel_elements(geometry_, c);
    return {c.size / 2, packed, adjoint_set(c, stage), packed + panel, packed + panel + geometry_.size()};
  }

  const T* packed_set(const DcnbioConvolution& c, int stage) const {
    return static_cast<const T*>(c.packed) + (c.weight_sets > 1 ? stage : 0) * packed_elements(geometry_, c);
  }

  const T* adjoint_set(const DcnbioConvolution& c, int stage) const {
    if (!c.packed_adjoint) return nullptr;
    return static_cast<const T*>(c.packed_adjoint) + (c.weight_sets > 1 ? stage : 0) * panel_elements(geometry_, c);
  }

  void convolve_forward(int i, long image, int stage, T time, const T* in, T* mixed, T* out) {
    if (spec_.convolution[i].kind == kPixel) {
      convolve(geometry_, pixel_kernel(i, stage), time, in, out, pixel_[i], clock_);
      return;
    }
    const SeparableKernel<T> kernel = separable_kernel(i, image, stage);
    with_terms(i, [&](auto terms) {
      convolve<T, decltype(terms)::value>(geometry_, kernel, time, in, mixed, out, separable_[i], clock_);
    });
  }

  void convolve_backward(int i, long image, int stage, T time, const T* mixed, const T* out_gradient, T* in_gradient,
                         Accumulator<T>& sums) {
    const DcnbioConvolution& c = spec_.convolution[i];
    T* weights = sums.weight(i, (c.weight_sets > 1 ? stage : 0) * weight_gradient_elements(geometry_, c));
    T* rest = weights + panel_elements(geometry_, c);
    if (c.kind == kPixel) {
      PixelGradient<T> gradient{weights, rest, rest + static_cast<long>(c.size) * c.size * geometry_.padded};
      convolve_gradient(geometry_, pixel_kernel(i, stage), time, activated_, out_gradient, in_gradient, pixel_[i],
                        gradient, clock_);
      return;
    }
    const SeparableKernel<T> kernel = separable_kernel(i, image, stage);
    double* taps = nullptr;
    if (c.taps_gradient) {
      taps = c.taps_image_stride ? taps_gradient_[i]
                                 : sums.taps(i, (c.taps_stage_stride ? stage : 0) * taps_gradient_elements(c));
      if (c.taps_image_stride) std::fill(taps, taps + 2 * bank_elements(c), 0.0);
    }
    SeparableGradient<T> gradient{weights, rest, taps, taps ? taps + bank_elements(c) : nullptr};
    with_terms(i, [&](auto terms) {
      convolve_gradient<T, decltype(terms)::value>(geometry_, kernel, time, activated_, mixed, out_gradient,
                                                   in_gradient, separable_[i], gradient, clock_);
    });
    if (taps && c.taps_image_stride)
      release_taps(taps, c.order + 1, c.size / 2,
                   static_cast<T*>(c.taps_gradient) + image * c.taps_image_stride + stage * c.taps_stage_stride);
  }

  template <class Body>
  void with_terms(int i, Body body) {
    switch (spec_.convolution[i].order) {
      case 0: return body(std::integral_constant<int, 1>{});
      case 1: return body(std::integral_constant<int, 2>{});
      case 2: return body(std::integral_constant<int, 3>{});
      case 3: return body(std::integral_constant<int, 4>{});
      default: return body(std::integral_constant<int, 5>{});
    }
  }

  const DcnbioField& spec_;
  Geometry geometry_;
  T *activated_, *backward_;
  Norm<T> norm_[3];
  T* banks_[2];
  double* taps_gradient_[2];
  SeparableBuffers<T> separable_[2];
  PixelBuffers<T> pixel_[2];
  WorkClock clock_;
};

}  // namespace dcnbio
