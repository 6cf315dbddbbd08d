// Weights in the order the products read them, made once for as long as the parameters stay.
//
// A separable set is: panels, time rows. A pixel set is: panels, time map, bias; a spectral one has the tables of its
// transforms besides. The adjoint's panels, which only
// gradients need, are apart.
#pragma once

#include <algorithm>

#include "abi.h"
#include "gemm.h"
#include "geometry.h"
#include "separable.h"
#include "spectral_packing.h"

namespace dcnbio {

template <class T>
int padded_channels(int channels) {
  return (channels + Lanes<T>::count - 1) / Lanes<T>::count * Lanes<T>::count;
}

template <class T>
Geometry geometry_of(const DcnbioField& field) {
  return {field.height, field.width, field.channels, padded_channels<T>(field.channels)};
}

inline Spectrum spectrum_of(const Geometry& g, const DcnbioConvolution& c) { return {g.width, c.size / 2}; }

// Elements of one set's panels; the adjoint's are as many.
inline long panel_elements(const Geometry& g, const DcnbioConvolution& c) {
  if (c.kind == kSeparable) return mixing_rows(c.order + 1, g.padded) * g.padded;
  const long rows = c.kind == kSpectral ? spectrum_of(g, c).planes() : c.size;
  return rows * c.size * g.padded * g.padded;
}

inline long packed_elements(const Geometry& g, const DcnbioConvolution& c) {
  const long terms = c.order + 1;
  if (c.kind == kSeparable) return panel_elements(g, c) + terms * terms * g.padded;
  const long tables = c.kind == kSpectral ? spectral_table_elements(spectrum_of(g, c)) : 0;
  return panel_elements(g, c) + g.size() + g.padded + tables;
}

// Where the alphas of basis function (k, l) lie, from input channel `from` (0 is time) on: [from][to].
template <class T>
const T* alphas_of(const DcnbioConvolution& c, int channels, const T* alphas, int k, int l, int from) {
  return alphas + (static_cast<long>(c.pairs[k * (c.order + 1) + l]) * (channels + 1) + from) * channels;
}

template <class T>
void pack_separable(const Geometry& g, const DcnbioConvolution& c, const T* alphas, T* out) {
  const int terms = c.order + 1, channels = g.channels;
  for (int k = 0; k < terms; ++k)
    out = pack_panels(out, (terms - k) * g.padded, g.padded, channels, 1, [&](int row) {
      const int l = row / g.padded, from = row % g.padded;
      return from < channels ? alphas_of(c, channels, alphas, k, l, from + 1) : nullptr;
    });
  for (int k = 0; k < terms; ++k)
    for (int l = 0; l < terms; ++l, out += g.padded) {
      std::fill(out, out + g.padded, T(0));
      if (k + l < terms) std::copy_n(alphas_of(c, channels, alphas, k, l, 0), static_cast<size_t>(channels), out);
    }
}

template <class T>
void pack_separable_adjoint(const Geometry& g, const DcnbioConvolution& c, const T* alphas, T* out) {
  const int terms = c.order + 1, channels = g.channels;
  for (int l = 0; l < terms; ++l)
    out = pack_panels(out, (terms - l) * g.padded, g.padded, channels, channels, [&](int row) {
      const int k = row / g.padded, to = row % g.padded;
      return to < channels ? alphas_of(c, channels, alphas, k, l, 1) + to : nullptr;
    });
}

// Response to a plane of ones in the time channel: every tap that falls on the map.
template <class T>
void pack_time_map(const Geometry& g, int size, const T* weights, T* out) {
  const int half = size / 2;
  const long to_stride = static_cast<long>(g.channels + 1) * size * size;
  for (int y = 0; y < g.height; ++y)
    for (int x = 0; x < g.width; ++x, out += g.padded) {
      std::fill(out, out + g.padded, T(0));
      for (int to = 0; to < g.channels; ++to)
        for (int dy = std::max(0, half - y); dy < std::min(size, g.height + half - y); ++dy)
          for (int dx = std::max(0, half - x); dx < std::min(size, g.width + half - x); ++dx)
            out[to] += weights[to * to_stride + dy * size + dx];
    }
}

template <class T>
T* pack_time_and_bias(const Geometry& g, const DcnbioConvolution& c, const T* weights, T* out) {
  pack_time_map(g, c.size, weights, out);
  out += g.size();
  std::fill(out, out + g.padded, T(0));
  if (c.bias) std::copy_n(static_cast<const T*>(c.bias), static_cast<size_t>(g.channels), out);
  return out + g.padded;
}

template <class T>
void pack_pixel(const Geometry& g, const DcnbioConvolution& c, const T* weights, T* out) {
  const int size = c.size, area = size * size, channels = g.channels;
  const long to_stride = static_cast<long>(channels + 1) * area;
  for (int dy = 0; dy < size; ++dy)
    out = pack_panels(out, size * g.padded, g.padded, channels, to_stride, [&](int row) {
      const int dx = row / g.padded, from = row % g.padded;
      return from < channels ? weights + (from + 1) * area + dy * size + dx : nullptr;
    });
  pack_time_and_bias(g, c, weights, out);
}

template <class T>
void pack_spectral_set(const Geometry& g, const DcnbioConvolution& c, const T* weights, T* out) {
  const Spectrum s = spectrum_of(g, c);
  pack_spectral(g, s, weights, false, out);
  T* tables = pack_time_and_bias(g, c, weights, out + panel_elements(g, c));
  fill_spectral_tables(s, tables, tables + static_cast<long>(s.planes()) * s.width);
}

// The adjoint of a convolution is a convolution with the kernel turned by 180 degrees.
template <class T>
void pack_pixel_adjoint(const Geometry& g, const DcnbioConvolution& c, const T* weights, T* out) {
  const int size = c.size, area = size * size, channels = g.channels;
  const long to_stride = static_cast<long>(channels + 1) * area;
  for (int dy = 0; dy < size; ++dy)
    out = pack_panels(out, size * g.padded, g.padded, channels, area, [&](int row) {
      const int dx = row / g.padded, to = row % g.padded;
      return to < channels ? weights + to * to_stride + area + (size - 1 - dy) * size + (size - 1 - dx) : nullptr;
    });
}

template <class T>
void pack(const Geometry& g, const DcnbioConvolution& c, bool adjoint) {
  const long terms = c.order + 1, from_to = static_cast<long>(g.channels) * (g.channels + 1);
  const long source = from_to * (c.kind == kSeparable ? terms * (terms + 1) / 2 : static_cast<long>(c.size) * c.size);
  for (int set = 0; set < c.weight_sets; ++set) {
    const T* weight = static_cast<const T*>(c.weight) + set * source;
    T* packed = static_cast<T*>(c.packed) + set * packed_elements(g, c);
    T* turned = static_cast<T*>(c.packed_adjoint) + set * panel_elements(g, c);
    if (c.kind == kSeparable)
      adjoint ? pack_separable_adjoint(g, c, weight, turned) : pack_separable(g, c, weight, packed);
    else if (c.kind == kSpectral)
      adjoint ? pack_spectral(g, spectrum_of(g, c), weight, true, turned) : pack_spectral_set(g, c, weight, packed);
    else
      adjoint ? pack_pixel_adjoint(g, c, weight, turned) : pack_pixel(g, c, weight, packed);
  }
}

}  // namespace dcnbio
