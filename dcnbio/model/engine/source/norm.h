// Group normalisation with the activation that follows it, one pass to apply, and their derivatives.
#pragma once

#include <vector>

#include "simd.h"

namespace dcnbio {

enum Activation { kIdentity = 0, kRelu = 1, kCelu = 2 };

template <class T>
inline Vector<T> activate(Vector<T> z, int activation) {
  if (activation == kIdentity) return z;
  const Vector<T> zero{};
  const Vector<T> positive = z < zero ? zero : z;  // this order lets NaN through
  if (activation == kRelu) return positive;
  return positive + exp_minus_one(z < zero ? z : zero);
}

// The activation's slope, from its own output: CELU' = 1 + CELU below zero.
template <class T>
inline Vector<T> activation_slope(Vector<T> a, int activation) {
  const Vector<T> zero{}, one = broadcast<T>(1);
  if (activation == kIdentity) return one;
  if (activation == kRelu) return a > zero ? one : zero;
  return a < zero ? a + one : one;
}

// What one normalisation of one image leaves behind, per channel.
template <class T>
struct Moments {
  T *mean, *inverse_deviation, *scale, *shift;
};

template <class T>
struct Norm {
  const T *weight, *bias;  // zero-padded to the padded channel count
  int channels, padded, groups, pixels, activation;
  double epsilon;
};

template <class T>
struct NormGradient {
  T *weight, *bias;
};

constexpr int kPixelUnroll = 4;

// sum_p f(p, vector of channels) for each vector of channels; four running sums keep float32 rounding small.
template <class T, class Value>
inline void channel_sums(T* out, int pixels, int padded, Value value) {
  constexpr int lanes = Lanes<T>::count;
  for (int c = 0; c < padded; c += lanes) {
    Vector<T> sum[kPixelUnroll] = {};
    int p = 0;
    for (; p + kPixelUnroll <= pixels; p += kPixelUnroll)
#pragma GCC unroll 4
      for (int u = 0; u < kPixelUnroll; ++u) sum[u] += value(p + u, c);
    for (; p < pixels; ++p) sum[0] += value(p, c);
    store<T>(out + c, (sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
}

template <class T>
inline double group_total(const T* values, int group, int size) {
  double total = 0;
  for (int c = group * size; c < (group + 1) * size; ++c) total += values[c];
  return total;
}

// Two passes: mean first, then the squares of the deviations, because E[x^2] - mean^2 cancels in float32.
template <class T>
void measure(const Norm<T>& norm, const T* x, Moments<T> m) {
  const int size = norm.channels / norm.groups, padded = norm.padded, pixels = norm.pixels;
  const double count = static_cast<double>(size) * pixels;
  for (int c = 0; c < padded; ++c) m.mean[c] = 0;
  channel_sums(m.scale, pixels, padded, [&](int p, int c) { return load(x + static_cast<long>(p) * padded + c); });
  for (int g = 0; g < norm.groups; ++g) {
    const T mean = static_cast<T>(group_total(m.scale, g, size) / count);
    for (int c = g * size; c < (g + 1) * size; ++c) m.mean[c] = mean;
  }
  channel_sums(m.scale, pixels, padded, [&](int p, int c) {
    const Vector<T> deviation = load(x + static_cast<long>(p) * padded + c) - load(m.mean + c);
    return deviation * deviation;
  });
  for (int g = 0; g < norm.groups; ++g) {
    const double inverse = 1 / std::sqrt(group_total(m.scale, g, size) / count + norm.epsilon);
    for (int c = g * size; c < (g + 1) * size; ++c) m.inverse_deviation[c] = static_cast<T>(inverse);
  }
  for (int c = 0; c < padded; ++c) {
    if (c >= norm.channels) m.inverse_deviation[c] = 0;
    m.scale[c] = m.inverse_deviation[c] * norm.weight[c];
    m.shift[c] = norm.bias[c] - m.mean[c] * m.scale[c];
  }
}

template <class T>
void apply(const Norm<T>& norm, const T* x, T* out, Moments<T> m) {
  constexpr int lanes = Lanes<T>::count;
  const int padded = norm.padded, activation = norm.activation;
  for (int p = 0; p < norm.pixels; ++p)
    for (int c = 0; c < padded; c += lanes) {
      const long i = static_cast<long>(p) * padded + c;
      store(out + i, activate<T>(load(x + i) * load(m.scale + c) + load(m.shift + c), activation));
    }
}

// gradient: d/d out on entry, d/d x on return. `activated` is apply's output (unused for the identity).
template <class T>
void apply_gradient(const Norm<T>& norm, const T* x, const T* activated, T* gradient, Moments<T> m,
                    NormGradient<T> sums) {
  constexpr int lanes = Lanes<T>::count;
  const int size = norm.channels / norm.groups, padded = norm.padded, pixels = norm.pixels;
  std::vector<T> row(4 * padded, T(0));
  T *plain = row.data(), *product = plain + padded, *offset = product + padded, *slope = offset + padded;
  if (norm.activation != kIdentity)
    for (long i = 0; i < static_cast<long>(pixels) * padded; i += lanes)
      store(gradient + i, load(gradient + i) * activation_slope<T>(load(activated + i), norm.activation));
  channel_sums(plain, pixels, padded, [&](int p, int c) { return load(gradient + static_cast<long>(p) * padded + c); });
  channel_sums(product, pixels, padded, [&](int p, int c) {
    const long i = static_cast<long>(p) * padded + c;
    return load(gradient + i) * ((load(x + i) - load(m.mean + c)) * load(m.inverse_deviation + c));
  });
  const double count = static_cast<double>(size) * pixels;
  for (int g = 0; g < norm.groups; ++g) {
    double mean = 0, along = 0;
    for (int c = g * size; c < (g + 1) * size; ++c) {
      mean += static_cast<double>(norm.weight[c]) * plain[c];
      along += static_cast<double>(norm.weight[c]) * product[c];
    }
    for (int c = g * size; c < (g + 1) * size; ++c) {
      offset[c] = static_cast<T>(mean / count);
      slope[c] = static_cast<T>(along / count);
      sums.weight[c] += product[c];
      sums.bias[c] += plain[c];
    }
  }
  for (int p = 0; p < pixels; ++p)
    for (int c = 0; c < padded; c += lanes) {
      const long i = static_cast<long>(p) * padded + c;
      const Vector<T> inverse = load(m.inverse_deviation + c);
      const Vector<T> normal = (load(x + i) - load(m.mean + c)) * inverse;
      const Vector<T> inner = load(gradient + i) * load(norm.weight + c) - load(offset + c) - normal * load(slope + c);
      store(gradient + i, inverse * inner);
    }
}

}  // namespace dcnbio
