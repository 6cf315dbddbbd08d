// Register-blocked matrix products: the mixing of channels, where nearly all floating-point work is done.
#pragma once

#include <algorithm>
#include <utility>

#include "simd.h"

namespace dcnbio {

// A(row, k) = a[row * a_row + k * a_step]: the same kernel reads pixels-by-terms (mixing) and terms-by-pixels
// (weight gradients). C starts from `start`, which may be a table, C itself or one row of zeros (start_row = 0).
template <class T>
struct Product {
  int depth;
  const T* a;
  long a_row, a_step;
  const T* b;
  long b_step;
  const T* start;
  long start_row;
  T* c;
  long c_row;
};

template <class T, int ROWS, int VECTORS>
void product_block(const Product<T>& p, long row) {
  constexpr int lanes = Lanes<T>::count;
  Vector<T> sum[ROWS][VECTORS];
  const T* start = p.start + row * p.start_row;
#pragma GCC unroll 16
  for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) sum[r][v] = load<T>(start + r * p.start_row + v * lanes);
  const T* a = p.a + row * p.a_row;
  const T* b = p.b;
  for (int k = 0; k < p.depth; ++k) {
    Vector<T> weight[VECTORS];
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) weight[v] = load<T>(b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; ++r) {
      const T value = a[r * p.a_row];
#pragma GCC unroll 2
      for (int v = 0; v < VECTORS; ++v) sum[r][v] += value * weight[v];
    }
    a += p.a_step;
    b += p.b_step;
  }
  T* c = p.c + row * p.c_row;
#pragma GCC unroll 16
  for (int r = 0; r < ROWS; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) store<T>(c + r * p.c_row + v * lanes, sum[r][v]);
}

template <class T, int VECTORS, int... I>
void dispatch_rows(const Product<T>& p, long row, int rows, std::integer_sequence<int, I...>) {
  using Block = void (*)(const Product<T>&, long);
  static constexpr Block blocks[] = {product_block<T, I + 1, VECTORS>...};
  blocks[rows - 1](p, row);
}

// Rows are shared out evenly: 49 pixels run as 13 + 12 + 12 + 12, not as 13 + 13 + 13 + 10.
template <class T, int VECTORS>
void multiply_columns(const Product<T>& p, long rows) {
  const long blocks = (rows + kRegisterRows - 1) / kRegisterRows;
  long row = 0;
  for (long i = 0; i < blocks; ++i) {
    const long end = rows * (i + 1) / blocks;
    dispatch_rows<T, VECTORS>(p, row, static_cast<int>(end - row), std::make_integer_sequence<int, kRegisterRows>{});
    row = end;
  }
}

extern template void multiply_columns<float, 1>(const Product<float>&, long);
extern template void multiply_columns<float, 2>(const Product<float>&, long);
extern template void multiply_columns<double, 1>(const Product<double>&, long);
extern template void multiply_columns<double, 2>(const Product<double>&, long);

template <class T>
constexpr int panel_width() {
  return 2 * Lanes<T>::count;
}

// C[rows, columns] = start + A[rows, depth] B, B packed in panels of panel_width columns ([depth][width] each, the
// last panel may be one vector wide).
template <class T>
void multiply_packed(Product<T> p, long rows, int columns) {
  constexpr int width = panel_width<T>();
  const T* panel = p.b;
  for (int column = 0; column < columns; column += width) {
    const int panel_columns = columns - column < width ? columns - column : width;
    Product<T> part = p;
    part.b = panel;
    part.b_step = panel_columns;
    part.start = p.start_row || p.start == p.c ? p.start + column : p.start;
    part.c = p.c + column;
    if (panel_columns == width)
      multiply_columns<T, 2>(part, rows);
    else
      multiply_columns<T, 1>(part, rows);
    panel += static_cast<long>(p.depth) * panel_columns;
  }
}

// C = start + A B with B in plain rows (b_step apart).
template <class T>
void multiply_rows(Product<T> p, long rows, int columns) {
  constexpr int width = panel_width<T>();
  for (int column = 0; column < columns; column += width) {
    Product<T> part = p;
    part.b = p.b + column;
    part.c = p.c + column;
    part.start = p.start_row ? p.start + column : p.start;
    if (columns - column >= width)
      multiply_columns<T, 2>(part, rows);
    else
      multiply_columns<T, 1>(part, rows);
  }
}

// C += A B with B in plain rows.
template <class T>
void multiply_accumulate(Product<T> p, long rows, int columns) {
  p.start = p.c;
  p.start_row = p.c_row;
  multiply_rows(p, rows, columns);
}

// Writes a [depth][columns] matrix in the panels multiply_packed reads. row(k) points at row k's `filled` elements,
// `stride` apart, or is null for a row of zeros; columns beyond `filled` are zeros.
template <class T, class Row>
T* pack_panels(T* out, int depth, int columns, int filled, long stride, Row row) {
  constexpr int width = panel_width<T>();
  for (int column = 0; column < columns; column += width) {
    const int panel_columns = std::min(width, columns - column), held = std::clamp(filled - column, 0, panel_columns);
    for (int k = 0; k < depth; ++k, out += panel_columns) {
      const T* from = row(k);
      const int count = from ? held : 0;
      for (int j = 0; j < count; ++j) out[j] = from[(column + j) * stride];
      std::fill(out + count, out + panel_columns, T(0));
    }
  }
  return out;
}

}  // namespace dcnbio
