// Parameter gradients of a chunk of images. Chunks depend on the batch alone and are added in order, so a call gives
// the same bits whatever the number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "norm.h"
#include "packing.h"

namespace dcnbio {

inline long weight_gradient_elements(const Geometry& g, const DcnbioConvolution& c) {
  const long terms = c.order + 1;
  const long rest = c.kind == kSeparable ? terms * terms : static_cast<long>(c.size) * c.size + 1;
  return panel_elements(g, c) + rest * g.padded;
}

inline long taps_gradient_elements(const DcnbioConvolution& c) {
  if (c.kind != kSeparable || !c.taps_gradient) return 0;
  return 2 * static_cast<long>(c.size / 2 + 1) * (c.order + 1);  // rows, then columns
}

inline int stage_sets(const DcnbioConvolution& c) { return c.taps_stage_stride ? 7 : 1; }

template <class T>
class Accumulator {
 public:
  Accumulator(const DcnbioField& field, const Geometry& g) {
    long total = 0, taps = 0;
    for (int i = 0; i < 2; ++i) {
      const DcnbioConvolution& c = field.convolution[i];
      weight_start_[i] = total;
      total += weight_gradient_elements(g, c) * c.weight_sets;
      taps_start_[i] = taps;
      taps += taps_gradient_elements(c) * stage_sets(c);
    }
    norm_start_ = total;
    padded_ = g.padded;
    values_.assign(total + 6 * g.padded, T(0));
    taps_.assign(taps, 0.0);
  }

  static long bytes(const DcnbioField& field, const Geometry& g) {
    long total = 0;
    for (const DcnbioConvolution& c : field.convolution) total += weight_gradient_elements(g, c) * c.weight_sets;
    return total * static_cast<long>(sizeof(T));
  }

  T* weight(int convolution, long offset) { return values_.data() + weight_start_[convolution] + offset; }
  double* taps(int convolution, long offset) { return taps_.data() + taps_start_[convolution] + offset; }
  NormGradient<T> norm(int index) {
    T* weight = values_.data() + norm_start_ + 2 * index * padded_;
    return {weight, weight + padded_};
  }

  void add(const Accumulator& other) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
    for (size_t i = 0; i < taps_.size(); ++i) taps_[i] += other.taps_[i];
  }

 private:
  long weight_start_[2], taps_start_[2], norm_start_;
  int padded_;
  std::vector<T> values_;
  std::vector<double> taps_;
};

// Undoes project_taps: each projected tap is half the sum or difference of a pair.
template <class T>
void release_taps(const double* rows, int terms, int half, T* taps) {
  const double* columns = rows + static_cast<long>(half + 1) * terms;
  const int size = 2 * half + 1;
  for (int m = 0; m < terms; ++m)
    for (int j = 0; j <= half; ++j) {
      // correlate() saw the column filter from its output's side, where an odd filter has the other sign.
      const double value = rows[j * terms + m] + (m % 2 ? -columns[j * terms + m] : columns[j * terms + m]);
      if (j == 0) {
        if (m % 2 == 0) taps[m * size + half] += static_cast<T>(value);
        continue;
      }
      taps[m * size + half + j] += static_cast<T>(value / 2);
      taps[m * size + half - j] += static_cast<T>(m % 2 ? -value / 2 : value / 2);
    }
}

template <class T>
void release_separable(const Geometry& g, const DcnbioConvolution& c, const T* from, T* alphas) {
  const int terms = c.order + 1, channels = g.channels;
  const T* time_rows = from + panel_elements(g, c);
  for (int k = 0; k < terms; ++k)
    for (int l = 0; k + l < terms; ++l, from += static_cast<long>(g.padded) * g.padded) {
      T* out = alphas + static_cast<long>(c.pairs[k * terms + l]) * (channels + 1) * channels;
      for (int to = 0; to < channels; ++to) out[to] += time_rows[(k * terms + l) * g.padded + to];
      for (int in = 0; in < channels; ++in)
        for (int to = 0; to < channels; ++to)
          out[static_cast<long>(in + 1) * channels + to] += from[static_cast<long>(in) * g.padded + to];
    }
}

template <class T>
void release_pixel(const Geometry& g, const DcnbioConvolution& c, const T* from, const T* time_rows, T* weights) {
  const int size = c.size, channels = g.channels, area = size * size;
  for (int tap = 0; tap < area; ++tap)
    for (int to = 0; to < channels; ++to) {
      T* out = weights + static_cast<long>(to) * (channels + 1) * area + tap;
      out[0] += time_rows[static_cast<long>(tap) * g.padded + to];
      for (int in = 0; in < channels; ++in)
        out[static_cast<long>(in + 1) * area] += from[(static_cast<long>(tap) * g.padded + in) * g.padded + to];
    }
  T* bias = static_cast<T*>(c.bias_gradient);
  for (int to = 0; bias && to < channels; ++to) bias[to] += time_rows[static_cast<long>(area) * g.padded + to];
}

// Adds the sums to the caller's arrays, in the caller's layout. Taps that differ between images are not summed here.
template <class T>
void release(const DcnbioField& field, const Geometry& g, Accumulator<T>& sums) {
  for (int i = 0; i < 2; ++i) {
    const DcnbioConvolution& c = field.convolution[i];
    const long terms = c.order + 1, from_to = static_cast<long>(g.channels) * (g.channels + 1);
    const long size = from_to * (c.kind == kSeparable ? terms * (terms + 1) / 2 : static_cast<long>(c.size) * c.size);
    for (int set = 0; c.weight_gradient && set < c.weight_sets; ++set) {
      T* out = static_cast<T*>(c.weight_gradient) + set * size;
      const T* from = sums.weight(i, set * weight_gradient_elements(g, c));
      if (c.kind == kSeparable)
        release_separable(g, c, from, out);
      else if (c.kind == kSpectral)
        release_pixel(g, c, spectral_taps(g, spectrum_of(g, c), from).data(), from + panel_elements(g, c), out);
      else
        release_pixel(g, c, from, from + panel_elements(g, c), out);
    }
    if (!taps_gradient_elements(c) || c.taps_image_stride) continue;
    for (int set = 0; set < stage_sets(c); ++set)
      release_taps(sums.taps(i, set * taps_gradient_elements(c)), static_cast<int>(terms), c.size / 2,
                   static_cast<T*>(c.taps_gradient) + set * c.taps_stage_stride);
  }
  for (int i = 0; i < 3; ++i)
    for (int channel = 0; field.norm_weight_gradient[i] && channel < g.channels; ++channel) {
      static_cast<T*>(field.norm_weight_gradient[i])[channel] += sums.norm(i).weight[channel];
      static_cast<T*>(field.norm_bias_gradient[i])[channel] += sums.norm(i).bias[channel];
    }
}

}  // namespace dcnbio
