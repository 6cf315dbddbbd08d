// What a dense kernel adds to its convolution of the maps: the response to the time channel's plane, and the bias.
#pragma once

#include <algorithm>

#include "geometry.h"
#include "simd.h"

namespace dcnbio {

// Output rows first..end whose neighbour dy rows below lies on the map.
struct RowRange {
  int first, end;
  RowRange(const Geometry& g, int first_row, int end_row, int dy)
      : first(std::max(first_row, -dy)), end(std::min(end_row, g.height - dy)) {}
};

// out = bias + time * time_map; time_map [pixel][padded] is the response to a plane of ones.
template <class T>
void start_from_time(const Geometry& g, const T* time_map, const T* bias, T time, T* out) {
  for (long i = 0; i < g.size(); i += g.padded)
    for (int c = 0; c < g.padded; c += Lanes<T>::count)
      store<T>(out + i + c, load(bias + c) + load(time_map + i + c) * time);
}

// Adds to time_rows [dx][padded] the gradient of the time channel's taps in kernel row dy.
template <class T>
void add_time_gradient(const Geometry& g, int half, int dy, T time, const T* out_gradient, T* column_sums,
                       T* time_rows) {
  constexpr int lanes = Lanes<T>::count;
  const long row = static_cast<long>(g.width) * g.padded;
  std::fill(column_sums, column_sums + row, T(0));
  const RowRange rows(g, 0, g.height, dy);
  for (int y = rows.first; y < rows.end; ++y)
    for (long i = 0; i < row; i += lanes)
      store<T>(column_sums + i, load(column_sums + i) + load(out_gradient + y * row + i));
  for (int dx = -half; dx <= half; ++dx)
    for (int c = 0; c < g.padded; c += lanes) {
      Vector<T> sum{};
      for (int x = std::max(0, -dx); x < std::min(g.width, g.width - dx); ++x)
        sum += load(column_sums + static_cast<long>(x) * g.padded + c);
      T* gradient = time_rows + (dx + half) * g.padded + c;
      store<T>(gradient, load(gradient) + sum * time);
    }
}

template <class T>
void add_bias_gradient(const Geometry& g, const T* out_gradient, T* bias) {
  for (int c = 0; c < g.padded; c += Lanes<T>::count) {
    Vector<T> sum{};
    for (long i = c; i < g.size(); i += g.padded) sum += load(out_gradient + i);
    store<T>(bias + c, load(bias + c) + sum);
  }
}

}  // namespace dcnbio
