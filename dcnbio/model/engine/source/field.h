// The vector field dh/dt = N3(conv2(g(N2(conv1(g(N1(h)), t))), t)) of one image, and its derivative. Equation 2 of the
// paper, with normalisation and activation before each convolution as in the public code.
#pragma once

#include <algorithm>

#include "accumulator.h"
#include "norm.h"
#include "pixel.h"
#include "separable.h"
#include "spectral.h"

namespace dcnbio {

// What an evaluation leaves for its derivative: the two convolutions' outputs and the mixed maps between filters.
template <class T>
struct Tape {
  T* output[2];
  T* mixed[2];
  Moments<T> moments[3];
};

// Which image, at which stage of a step (it picks time-dependent taps and weights), at what time.
template <class T>
struct Evaluation {
  long image;
  int stage;
  T time;
};

template <class T>
class Field {
 public:
  // One per thread. Buffers come from the thread's scratch.
  Field(const DcnbioField& spec, bool recording, Scratch& scratch) : spec_(spec), geometry_(geometry_of<T>(spec)) {
    activated_ = scratch.take<T>(geometry_.size());
    backward_ = scratch.take<T>(geometry_.size());
    for (int i = 0; i < 3; ++i) {
      T* affine = scratch.take<T>(2 * geometry_.padded);
      std::fill(affine, affine + 2 * geometry_.padded, T(0));
      const auto channels = static_cast<size_t>(geometry_.channels);
      std::copy_n(static_cast<const T*>(spec.norm_weight[i]), channels, affine);
      std::copy_n(static_cast<const T*>(spec.norm_bias[i]), channels, affine + geometry_.padded);
      norm_[i] = {affine, affine + geometry_.padded, geometry_.channels, geometry_.padded, spec.groups,
                  geometry_.pixels(), i < 2 ? spec.activation : kIdentity, spec.epsilon};
    }
    for (int i = 0; i < 2; ++i) {
      const DcnbioConvolution& c = spec.convolution[i];
      if (c.kind == kSeparable) {
        banks_[i] = scratch.take<T>(2 * bank_elements(c));
        taps_gradient_[i] = scratch.take<double>(2 * bank_elements(c));
        separable_[i] = SeparableBuffers<T>(geometry_, c.order + 1, scratch);
      } else if (c.kind == kSpectral) {
        spectral_[i] = SpectralBuffers<T>(geometry_, c.size / 2, recording, scratch);
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

  // f = field(time, h)
  void evaluate(Evaluation<T> at, const T* h, T* f, Tape<T>& tape) {
    const T* in = h;
    for (int i = 0; i < 2; ++i) {
      measure(norm_[i], in, tape.moments[i]);
      apply(norm_[i], in, activated_, tape.moments[i]);
      clock_.lap(kNormWork);
      convolve_forward(i, at, tape);
      in = tape.output[i];
    }
    measure(norm_[2], in, tape.moments[2]);
    apply(norm_[2], in, f, tape.moments[2]);
    clock_.lap(kNormWork);
  }

  // gradient: d/df on entry, d/dh on return; h and tape as evaluate had and left them.
  void backpropagate(Evaluation<T> at, const T* h, Tape<T>& tape, T* gradient, Accumulator<T>& sums) {
    T *from = gradient, *to = backward_;
    apply_gradient<T>(norm_[2], tape.output[1], nullptr, from, tape.moments[2], sums.norm(2));
    for (int i = 1; i >= 0; --i) {
      const T* in = i ? tape.output[0] : h;
      apply(norm_[i], in, activated_, tape.moments[i]);
      clock_.lap(kNormWork);
      convolve_backward(i, at, tape.mixed[i], from, to, sums);
      std::swap(from, to);
      apply_gradient<T>(norm_[i], in, activated_, from, tape.moments[i], sums.norm(i));
      clock_.lap(kNormWork);
    }
  }

  // Adds to `sums` what backpropagate has kept back; to be called before other sums are used.
  void flush(Accumulator<T>& sums) {
    for (int i = 0; i < 2; ++i) {
      if (spec_.convolution[i].kind != kSpectral) continue;
      const SpectralKernel<T> kernel = spectral_kernel(i);
      SpectralConvolution<T>(geometry_, kernel, T(0), spectral_[i], clock_).flush(sums.weight(i, 0));
    }
  }

 private:
  static long bank_elements(const DcnbioConvolution& c) {
    return static_cast<long>(c.size / 2 + 1) * (c.order + 1);
  }

  SeparableKernel<T> separable_kernel(int i, Evaluation<T> at) {
    const DcnbioConvolution& c = spec_.convolution[i];
    T *bank = banks_[i], *adjoint_bank = bank + bank_elements(c);
    const T* taps = static_cast<const T*>(c.taps) + at.image * c.taps_image_stride + at.stage * c.taps_stage_stride;
    project_taps(taps, c.order + 1, c.size / 2, bank, adjoint_bank);
    const T* packed = packed_set(c, at.stage);
    const long panel = panel_elements(geometry_, c);
    return {{bank, c.size / 2}, {adjoint_bank, c.size / 2}, packed, adjoint_set(c, at.stage), packed + panel};
  }

  PixelKernel<T> pixel_kernel(int i, int stage) const {
    const DcnbioConvolution& c = spec_.convolution[i];
    const T* packed = packed_set(c, stage);
    const long panel = panel_elements(geometry_, c);
    return {c.size / 2, packed, adjoint_set(c, stage), packed + panel, packed + panel + geometry_.size()};
  }

  SpectralKernel<T> spectral_kernel(int i) const {
    const DcnbioConvolution& c = spec_.convolution[i];
    const Spectrum spectrum = spectrum_of(geometry_, c);
    const T* packed = packed_set(c, 0);
    const T* time_map = packed + panel_elements(geometry_, c);
    const T *bias = time_map + geometry_.size(), *tables = bias + geometry_.padded;
    return {spectrum, packed, adjoint_set(c, 0), time_map, bias, tables,
            tables + static_cast<long>(spectrum.planes()) * spectrum.width};
  }

  const T* packed_set(const DcnbioConvolution& c, int stage) const {
    return static_cast<const T*>(c.packed) + (c.weight_sets > 1 ? stage : 0) * packed_elements(geometry_, c);
  }

  const T* adjoint_set(const DcnbioConvolution& c, int stage) const {
    if (!c.packed_adjoint) return nullptr;
    return static_cast<const T*>(c.packed_adjoint) + (c.weight_sets > 1 ? stage : 0) * panel_elements(geometry_, c);
  }

  void convolve_forward(int i, Evaluation<T> at, Tape<T>& tape) {
    if (spec_.convolution[i].kind == kPixel) {
      const PixelKernel<T> kernel = pixel_kernel(i, at.stage);
      PixelConvolution<T>(geometry_, kernel, at.time, pixel_[i], clock_).forward(activated_, tape.output[i]);
      return;
    }
    if (spec_.convolution[i].kind == kSpectral) {
      const SpectralKernel<T> kernel = spectral_kernel(i);
      SpectralConvolution<T>(geometry_, kernel, at.time, spectral_[i], clock_).forward(activated_, tape.output[i]);
      return;
    }
    const SeparableKernel<T> kernel = separable_kernel(i, at);
    with_terms(i, [&](auto terms) {
      SeparableConvolution<T, decltype(terms)::value>(geometry_, kernel, at.time, separable_[i], clock_)
          .forward(activated_, tape.mixed[i], tape.output[i]);
    });
  }

  void convolve_backward(int i, Evaluation<T> at, const T* mixed, const T* from, T* to, Accumulator<T>& sums) {
    const DcnbioConvolution& c = spec_.convolution[i];
    T* weights = sums.weight(i, (c.weight_sets > 1 ? at.stage : 0) * weight_gradient_elements(geometry_, c));
    T* rest = weights + panel_elements(geometry_, c);
    if (c.kind == kPixel) {
      PixelGradient<T> gradient{weights, rest, rest + static_cast<long>(c.size) * c.size * geometry_.padded};
      const PixelKernel<T> kernel = pixel_kernel(i, at.stage);
      PixelConvolution<T>(geometry_, kernel, at.time, pixel_[i], clock_).backward(activated_, from, to, gradient);
      return;
    }
    if (c.kind == kSpectral) {
      SpectralGradient<T> gradient{weights, rest, rest + static_cast<long>(c.size) * c.size * geometry_.padded};
      const SpectralKernel<T> kernel = spectral_kernel(i);
      SpectralConvolution<T>(geometry_, kernel, at.time, spectral_[i], clock_)
          .backward(activated_, from, to, gradient);
      return;
    }
    const SeparableKernel<T> kernel = separable_kernel(i, at);
    double* taps = c.taps_gradient ? taps_sums(i, at, sums) : nullptr;
    SeparableGradient<T> gradient{weights, rest, taps, taps ? taps + bank_elements(c) : nullptr};
    with_terms(i, [&](auto terms) {
      SeparableConvolution<T, decltype(terms)::value>(geometry_, kernel, at.time, separable_[i], clock_)
          .backward(activated_, mixed, from, to, gradient);
    });
    if (taps && c.taps_image_stride)
      release_taps(taps, c.order + 1, c.size / 2,
                   static_cast<T*>(c.taps_gradient) + at.image * c.taps_image_stride + at.stage * c.taps_stage_stride);
  }

  // Taps of one image's own go straight to the caller; shared ones are summed over the chunk.
  double* taps_sums(int i, Evaluation<T> at, Accumulator<T>& sums) {
    const DcnbioConvolution& c = spec_.convolution[i];
    if (!c.taps_image_stride) return sums.taps(i, (c.taps_stage_stride ? at.stage : 0) * taps_gradient_elements(c));
    std::fill(taps_gradient_[i], taps_gradient_[i] + 2 * bank_elements(c), 0.0);
    return taps_gradient_[i];
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
  SpectralBuffers<T> spectral_[2];
  WorkClock clock_;
};

}  // namespace dcnbio
