// One convolution with structured receptive fields outside an ODE block: any channels in and out, and a stride.
//
// The factors are those of separable.h, taken row by row. A stride skips pixels of the mixing; the filters run at
// full resolution and their unwanted rows are dropped, because they are the cheap part.
#pragma once

#include <algorithm>

#include "abi.h"
#include "accumulator.h"
#include "filters.h"
#include "gemm.h"
#include "scratch.h"

namespace dcnbio {

template <class T>
struct LayerShape {
  int height, width, stride, in, out, terms, half;

  explicit LayerShape(const DcnbioLayer& layer)
      : height(layer.height),
        width(layer.width),
        stride(layer.stride),
        in(padded_channels<T>(layer.channels_in)),
        out(padded_channels<T>(layer.channels_out)),
        terms(layer.order + 1),
        half(layer.size / 2) {}

  int out_height() const { return (height - 1) / stride + 1; }
  int out_width() const { return (width - 1) / stride + 1; }
  long in_row() const { return static_cast<long>(width) * in; }
  long out_row() const { return static_cast<long>(out_width()) * out; }
  long bank() const { return static_cast<long>(half + 1) * terms; }
  long panels() const { return mixing_rows(terms, in) * out; }
};

// Weights of one call, packed once and read by every thread.
template <class T>
struct LayerWeights {
  std::vector<T> bank, adjoint_bank, panels, adjoint_panels;

  explicit LayerWeights(const DcnbioLayer& layer) {
    const LayerShape<T> s(layer);
    bank.resize(s.bank());
    adjoint_bank.resize(s.bank());
    project_taps(static_cast<const T*>(layer.taps), s.terms, s.half, bank.data(), adjoint_bank.data());
    panels.resize(s.panels());
    adjoint_panels.resize(s.panels());
    const T* alphas = static_cast<const T*>(layer.alphas);
    const int channels_in = layer.channels_in, channels_out = layer.channels_out;
    const auto at = [&](int k, int l, int from) {
      return alphas + (static_cast<long>(layer.pairs[k * s.terms + l]) * channels_in + from) * channels_out;
    };
    T* to_panels = panels.data();
    T* to_adjoint = adjoint_panels.data();
    for (int i = 0; i < s.terms; ++i) {
      to_panels = pack_panels(to_panels, (s.terms - i) * s.in, s.out, channels_out, 1, [&](int row) {
        return row % s.in < channels_in ? at(i, row / s.in, row % s.in) : nullptr;
      });
      to_adjoint = pack_panels(to_adjoint, (s.terms - i) * s.out, s.in, channels_in, channels_out, [&](int row) {
        return row % s.out < channels_out ? at(row / s.out, i, 0) + row % s.out : nullptr;
      });
    }
  }
};

// Sums of one chunk of images.
template <class T>
struct LayerGradient {
  std::vector<T> weights;    // [k][l * in + from][out]
  std::vector<double> taps;  // rows, then columns, [half + 1][terms] each

  explicit LayerGradient(const LayerShape<T>& s) : weights(s.panels(), T(0)), taps(2 * s.bank(), 0.0) {}

  void add(const LayerGradient& other) {
    for (size_t i = 0; i < weights.size(); ++i) weights[i] += other.weights[i];
    for (size_t i = 0; i < taps.size(); ++i) taps[i] += other.taps[i];
  }

  void release(const DcnbioLayer& layer, const LayerShape<T>& s) const {
    if (layer.taps_gradient)
      release_taps(taps.data(), s.terms, s.half, static_cast<T*>(layer.taps_gradient));
    const T* from = weights.data();
    for (int k = 0; layer.alphas_gradient && k < s.terms; ++k)
      for (int l = 0; k + l < s.terms; ++l, from += static_cast<long>(s.in) * s.out) {
        const long function = layer.pairs[k * s.terms + l];
        T* to = static_cast<T*>(layer.alphas_gradient) + function * layer.channels_in * layer.channels_out;
        for (int i = 0; i < layer.channels_in; ++i)
          for (int o = 0; o < layer.channels_out; ++o)
            to[static_cast<long>(i) * layer.channels_out + o] += from[static_cast<long>(i) * s.out + o];
      }
  }
};

// One thread's buffers. TERMS is N + 1.
template <class T, int TERMS>
class LayerWorker {
 public:
  LayerWorker(const DcnbioLayer& layer, const LayerWeights<T>& weights, Scratch& scratch)
      : layer_(layer), shape_(layer), weights_(weights) {
    const LayerShape<T>& s = shape_;
    input_ = scratch.take<T>(s.height * s.in_row());
    mixed_ = scratch.take<T>(TERMS * s.height * s.out_row());
    output_ = scratch.take<T>(s.height * s.out_row());
    filtered_ = scratch.take<T>(TERMS * s.in_row());
    slopes_ = scratch.take<T>(TERMS * s.out_row());
    back_ = scratch.take<T>(TERMS * s.in_row());
    zeros_ = scratch.take<T>(std::max(s.in_row(), s.out_row()));
    std::fill(zeros_, zeros_ + std::max(s.in_row(), s.out_row()), T(0));
  }

  static long scratch_bytes(const LayerShape<T>& s) {
    const long elements = s.height * (s.in_row() + (TERMS + 1) * s.out_row()) + (2 * TERMS + 1) * s.in_row() +
                          (TERMS + 1) * s.out_row();
    return elements * static_cast<long>(sizeof(T)) + 16 * kAlignment;
  }

  void forward(const T* in, T* out) {
    const LayerShape<T>& s = shape_;
    mix(in);
    synthesise<T, TERMS>({mixed_, s.out_row(), s.height * s.out_row()}, {output_, s.out_row()}, bank(),
                         Line{s.height, static_cast<int>(s.out_row())});
    for (int y = 0; y < s.out_height(); ++y)
      copy_pixels(output_ + y * s.stride * s.out_row(), s.out, s.out_width(), layer_.channels_out,
                  out + static_cast<long>(y) * s.out_width() * layer_.channels_out, layer_.channels_out);
  }

  // in_gradient = d/d in; the parameters' gradients are added to `sums`.
  void backward(const T* in, const T* out_gradient, T* in_gradient, LayerGradient<T>& sums) {
    const LayerShape<T>& s = shape_;
    mix(in);
    std::fill(output_, output_ + s.height * s.out_row(), T(0));
    for (int y = 0; y < s.out_height(); ++y)
      copy_pixels(out_gradient + static_cast<long>(y) * s.out_width() * layer_.channels_out, layer_.channels_out,
                  s.out_width(), layer_.channels_out, output_ + y * s.stride * s.out_row(), s.out);
    for (int y = 0; y < s.height; ++y) row_backward(y, in_gradient, sums);
    const Line column{s.height, static_cast<int>(s.out_row())};
    if (layer_.taps_gradient)
      correlate<T, TERMS>({output_, s.out_row()}, {mixed_, s.out_row(), s.height * s.out_row()},
                          {sums.taps.data() + s.bank(), zeros_, s.half}, column);
  }

 private:
  static void copy_pixels(const T* from, long from_step, int pixels, int channels, T* to, long to_step) {
    for (int p = 0; p < pixels; ++p) std::copy_n(from + p * from_step, channels, to + p * to_step);
  }

  Bank<T> bank() const { return {weights_.bank.data(), shape_.half}; }
  Bank<T> adjoint_bank() const { return {weights_.adjoint_bank.data(), shape_.half}; }

  void filter_row(int y) {
    const LayerShape<T>& s = shape_;
    analyse<T, TERMS>({input_ + y * s.in_row(), s.in}, {filtered_, TERMS * s.in, s.in}, bank(), 0, s.width,
                      Line{s.width, s.in});
  }

  void mix(const T* in) {
    const LayerShape<T>& s = shape_;
    std::fill(input_, input_ + s.height * s.in_row(), T(0));
    copy_pixels(in, layer_.channels_in, s.height * s.width, layer_.channels_in, input_, s.in);
    for (int y = 0; y < s.height; ++y) {
      filter_row(y);
      const T* panels = weights_.panels.data();
      for (int k = 0; k < TERMS; ++k) {
        const int depth = (TERMS - k) * s.in;
        multiply_packed(Product<T>{depth, filtered_, static_cast<long>(s.stride) * TERMS * s.in, 1, panels, 0,
                                   zero_row<T>(), 0, mixed_ + (static_cast<long>(k) * s.height + y) * s.out_row(),
                                   s.out},
                        s.out_width(), s.out);
        panels += static_cast<long>(depth) * s.out;
      }
    }
  }

  void row_backward(int y, T* in_gradient, LayerGradient<T>& sums) {
    const LayerShape<T>& s = shape_;
    const long slope_step = TERMS * s.out, filtered_step = static_cast<long>(s.stride) * TERMS * s.in;
    filter_row(y);
    for (int x = 0; x < s.out_width(); ++x)
      analyse<T, TERMS>({output_ + static_cast<long>(x) * s.out, s.out_row()},
                        {slopes_ + (x - y) * slope_step, slope_step, s.out}, adjoint_bank(), y, y + 1,
                        Line{s.height, s.out});
    T* weights = sums.weights.data();
    for (int k = 0; k < TERMS; ++k) {
      multiply_accumulate(Product<T>{s.out_width(), filtered_, 1, filtered_step, slopes_ + k * s.out, slope_step,
                                     nullptr, 0, weights, s.out},
                          (TERMS - k) * s.in, s.out);
      weights += static_cast<long>(TERMS - k) * s.in * s.out;
    }
    std::fill(back_, back_ + TERMS * s.in_row(), T(0));
    const T* panels = weights_.adjoint_panels.data();
    for (int l = 0; l < TERMS; ++l) {
      const int depth = (TERMS - l) * s.out;
      multiply_packed(Product<T>{depth, slopes_, slope_step, 1, panels, 0, zero_row<T>(), 0, back_ + l * s.in_row(),
                                 static_cast<long>(s.stride) * s.in},
                      s.out_width(), s.in);
      panels += static_cast<long>(depth) * s.in;
    }
    const Line line{s.width, s.in};
    if (layer_.taps_gradient)
      correlate<T, TERMS>({input_ + y * s.in_row(), s.in}, {back_, s.in, s.in_row()},
                          {sums.taps.data(), zeros_, s.half}, line);
    T* row = filtered_;  // its filters are spent
    synthesise<T, TERMS>({back_, s.in, s.in_row()}, {row, s.in}, adjoint_bank(), line);
    copy_pixels(row, s.in, s.width, layer_.channels_in,
                in_gradient + static_cast<long>(y) * s.width * layer_.channels_in, layer_.channels_in);
  }

  const DcnbioLayer& layer_;
  LayerShape<T> shape_;
  const LayerWeights<T>& weights_;
  T *input_, *mixed_, *output_, *filtered_, *slopes_, *back_, *zeros_;
};

}  // namespace dcnbio
