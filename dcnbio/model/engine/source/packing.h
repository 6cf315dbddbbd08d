// Weights in the order the products read them, made once for as long as the parameters stay.
//
// A separable set is: panels, adjoint panels, time rows. A pixel set is: panels, adjoint panels, time map, bias.
#pragma once

#include "abi.h"
#include "gemm.h"
#include "geometry.h"
#include "separable.h"

namespace dcnbio {

template <class T>
int padded_channels(int channels) {
  return (channels + Lanes<T>::count - 1) / Lanes<T>::count * Lanes<T>::count;
}

template <class T>
Geometry geometry_of(const DcnbioField& field) {
  return {field.height, field.width, field.channels, padded_channels<T>(field.channels)};
}

// Elements of one set's panels; the adjoint's are as many.
inline long panel_elements(const Geometry& g, const DcnbioConvolution& c) {
  if (c.kind == kSeparable) return mixing_rows(c.order + 1, g.padded) * g.padded;
  return static_cast<long>(c.size) * c.size * g.padded * g.padded;
}

inline long packed_elements(const Geometry& g, const DcnbioConvolution& c) {
  const long terms = c.order + 1;
  const long rest = c.kind == kSeparable ? terms * terms * g.padded : g.size() + g.padded;
  return 2 * panel_elements(g, c) + rest;
}

template <class T>
void pack_separable(const Geometry& g, const DcnbioConvolution& c, const T* alphas, T* out) {
  const int terms = c.order + 1, channels = g.channels;
  const auto alpha = [&](int k, int l, int from, int to) {
    const long row = static_cast<long>(c.pairs[k * terms + l]) * (channels + 1) + from;
    return from <= channels && to < channels ? alphas[row * channels + to] : T(0);
  };
  for (int k = 0; k < terms; ++k)
    out = pack_panels(out, (terms - k) * g.padded, g.padded,
                      [&](int row, int to) { return alpha(k, row / g.padded, row % g.padded + 1, to); });
  for (int l = 0; l < terms; ++l)
    out = pack_panels(out, (terms - l) * g.padded, g.padded, [&](int row, int from) {
      return from < channels ? alpha(row / g.padded, l, from + 1, row % g.padded) : T(0);
    });
  for (int k = 0; k < terms; ++k)
    for (int l = 0; l < terms; ++l)
      for (int to = 0; to < g.padded; ++to) *out++ = k + l < terms ? alpha(k, l, 0, to) : T(0);
}

template <class T>
void pack_pixel(const Geometry& g, const DcnbioConvolution& c, const T* weights, T* out) {
  const int size = c.size, half = size / 2, channels = g.channels;
  const auto weight = [&](int dy, int dx, int from, int to) {
    const long row = static_cast<long>(to) * (channels + 1) + from;
    return from <= channels && to < channels ? weights[(row * size + dy) * size + dx] : T(0);
  };
  for (int dy = 0; dy < size; ++dy)
    out = pack_panels(out, size * g.padded, g.padded,
                      [&](int row, int to) { return weight(dy, row / g.padded, row % g.padded + 1, to); });
  for (int dy = 0; dy < size; ++dy)
    out = pack_panels(out, size * g.padded, g.padded, [&](int row, int from) {
      return from < channels ? weight(size - 1 - dy, size - 1 - row / g.padded, from + 1, row % g.padded) : T(0);
    });
  for (int y = 0; y < g.height; ++y)
    for (int x = 0; x < g.width; ++x)
      for (int to = 0; to < g.padded; ++to) {
        T sum = 0;
        for (int dy = std::max(0, half - y); dy < std::min(size, g.height + half - y); ++dy)
          for (int dx = std::max(0, half - x); dx < std::min(size, g.width + half - x); ++dx)
            sum += weight(dy, dx, 0, to);
        *out++ = sum;
      }
  for (int to = 0; to < g.padded; ++to)
    *out++ = c.bias && to < channels ? static_cast<const T*>(c.bias)[to] : T(0);
}

template <class T>
void pack(const Geometry& g, const DcnbioConvolution& c) {
  const long terms = c.order + 1, from_to = static_cast<long>(g.channels) * (g.channels + 1);
  const long source = from_to * (c.kind == kSeparable ? terms * (terms + 1) / 2 : static_cast<long>(c.size) * c.size);
  for (int set = 0; set < c.weight_sets; ++set) {
    const T* weight = static_cast<const T*>(c.weight) + set * source;
    T* out = static_cast<T*>(c.packed) + set * packed_elements(g, c);
    if (c.kind == kSeparable)
      pack_separable(g, c, weight, out);
    else
      pack_pixel(g, c, weight, out);
  }
}

}  // namespace dcnbio
