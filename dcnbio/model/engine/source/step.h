// One attempted Runge-Kutta step of one image, and its derivative.
#pragma once

#include <cmath>

#include "field.h"
#include "tableau.h"

namespace dcnbio {

// Copies between the caller's [pixel][channels] and the padded layout; padding is zero.
template <class T>
void pad(const Geometry& g, const T* from, T* to) {
  for (int p = 0; p < g.pixels(); ++p) {
    std::copy_n(from + static_cast<long>(p) * g.channels, g.channels, to + static_cast<long>(p) * g.padded);
    std::fill(to + static_cast<long>(p) * g.padded + g.channels, to + static_cast<long>(p + 1) * g.padded, T(0));
  }
}

template <class T>
void unpad(const Geometry& g, const T* from, T* to) {
  for (int p = 0; p < g.pixels(); ++p)
    std::copy_n(from + static_cast<long>(p) * g.padded, g.channels, to + static_cast<long>(p) * g.channels);
}

// A row of the tableau, times the step.
struct Weights {
  const double* row;
  int count;
  double step;
};

// out = base + sum_i weight_i * terms_i, in one pass over memory; zero weights are skipped.
template <class T>
void combine(long size, const T* base, T* const* terms, Weights weights, T* out) {
  constexpr int lanes = Lanes<T>::count;
  const T* used[kStages];
  T factor[kStages];
  int n = 0;
  for (int i = 0; i < weights.count; ++i)
    if (weights.row[i] != 0) {
      used[n] = terms[i];
      factor[n++] = static_cast<T>(weights.row[i] * weights.step);
    }
  for (long i = 0; i < size; i += lanes) {
    Vector<T> sum{};
    for (int j = 0; j < n; ++j) sum += load(used[j] + i) * factor[j];
    store<T>(out + i, load(base + i) + sum);
  }
}

// sum of (error / (atol + rtol max(|y0|, |y1|)))^2. An exact component counts as zero even where both tolerances are.
template <class T>
double squared_error(long size, const T* y0, const T* y1, T* const* slopes, const DcnbioBatch& batch, long image) {
  constexpr int lanes = Lanes<T>::count;
  const T relative = static_cast<T>(batch.rtol), absolute = static_cast<T>(batch.atol);
  T weight[kStages];
  for (int j = 0; j < kStages; ++j) weight[j] = static_cast<T>(kErrorWeight[j] * batch.step[image]);
  double total = 0;
  Vector<T> sum{};
  for (long i = 0; i < size; i += lanes) {
    Vector<T> error = load(slopes[0] + i) * weight[0];
    for (int j = 2; j < kStages; ++j) error += load(slopes[j] + i) * weight[j];
    Vector<T> before = load(y0 + i), after = load(y1 + i);
    before = before < Vector<T>{} ? -before : before;
    after = after < Vector<T>{} ? -after : after;
    const Vector<T> ratio = error / ((before > after ? before : after) * relative + absolute);
    sum += error == Vector<T>{} ? Vector<T>{} : ratio * ratio;
    if (i / lanes % 64 == 63) {  // float32 sums stay short
      total += lane_sum<T>(sum);
      sum = Vector<T>{};
    }
  }
  return total + lane_sum<T>(sum);
}

// The states and slopes of the seven stages of one image.
template <class T>
struct Stages {
  T* state[kStages];
  T* slope[kStages];
};

template <class T>
class Stepper {
 public:
  // `recording` keeps every stage's state and tape, for the derivative.
  Stepper(const DcnbioField& spec, const DcnbioBatch& batch, bool recording, Scratch& scratch)
      : batch_(batch), field_(spec, recording, scratch), recording_(recording) {
    const long size = field_.geometry().size();
    for (int s = 0; s < kStages; ++s) {
      const bool own = recording || s < 2;
      stages_.state[s] = own ? scratch.take<T>(size) : stages_.state[1];
      stages_.slope[s] = scratch.take<T>(size);
      tapes_[s] = recording || s == 0 ? field_.new_tape(scratch) : tapes_[0];
    }
    if (recording)
      for (T*& gradient : gradients_) gradient = scratch.take<T>(size);
    state_gradient_ = recording ? scratch.take<T>(size) : nullptr;
  }

  WorkClock& clock() { return field_.clock(); }

  void flush(Accumulator<T>& sums) { field_.flush(sums); }

  void evaluate(long image) {
    read(batch_.state, image, stages_.state[0]);
    field_.evaluate(start(image), stages_.state[0], stages_.slope[0], tapes_[0]);
    write(stages_.slope[0], image, batch_.next_slope);
  }

  void evaluate_gradient(long image, Accumulator<T>& sums) {
    read(batch_.state, image, stages_.state[0]);
    field_.evaluate(start(image), stages_.state[0], stages_.slope[0], tapes_[0]);
    write(stages_.slope[0], image, batch_.next_slope);
    read(batch_.next_slope_gradient, image, gradients_[0]);
    field_.backpropagate(start(image), stages_.state[0], tapes_[0], gradients_[0], sums);
    write(gradients_[0], image, batch_.state_gradient);
  }

  void attempt(long image) {
    const long size = field_.geometry().size();
    run_stages(image, kStages);
    const T *y0 = stages_.state[0], *y1 = stages_.state[kStages - 1];
    batch_.error[image] = squared_error(size, y0, y1, stages_.slope, batch_, image);
    write(y1, image, batch_.next);
    write(stages_.slope[kStages - 1], image, batch_.next_slope);
    if (batch_.middle) {
      T* middle = stages_.slope[1];  // k2 enters neither the mid-point nor the error
      combine(size, y0, stages_.slope, Weights{kMiddleWeight, kStages, batch_.step[image]}, middle);
      write(middle, image, batch_.middle);
    }
    clock().lap(kCombinationWork);
  }

  // Reverse through the numbers attempt computed; its step size is held constant.
  void attempt_gradient(long image, Accumulator<T>& sums) {
    const long size = field_.geometry().size();
    const double step = batch_.step[image];
    const bool ends = batch_.next_slope_gradient || batch_.middle_gradient;
    run_stages(image, ends ? kStages : kStages - 1);
    begin_gradients(image, step);
    for (int s = kStages - 1; s > 0; --s) {
      T* gradient = gradients_[s];  // of the slope; backpropagate turns it into that of the stage's state
      if (s < kStages - 1 || ends)
        field_.backpropagate(stage(image, s), stages_.state[s], tapes_[s], gradient, sums);
      clock().restart();
      if (s == kStages - 1) add_read(batch_.next_gradient, image, gradient);
      spread(gradient, s, step, size);
      clock().lap(kCombinationWork);
    }
    if (!batch_.slope) {
      field_.backpropagate(stage(image, 0), stages_.state[0], tapes_[0], gradients_[0], sums);
      clock().restart();
      add(gradients_[0], size, state_gradient_);
    }
    write(state_gradient_, image, batch_.state_gradient);
    if (batch_.slope) write(gradients_[0], image, batch_.slope_gradient);
    clock().lap(kCombinationWork);
  }

 private:
  Evaluation<T> start(long image) const { return {image, 0, static_cast<T>(batch_.time[image])}; }

  Evaluation<T> stage(long image, int s) const {
    return {image, s, static_cast<T>(batch_.time[image] + kStageTime[s] * batch_.step[image])};
  }

  void run_stages(long image, int evaluated) {
    const long size = field_.geometry().size();
    clock().restart();
    read(batch_.state, image, stages_.state[0]);
    if (batch_.slope)
      read(batch_.slope, image, stages_.slope[0]);
    else
      field_.evaluate(stage(image, 0), stages_.state[0], stages_.slope[0], tapes_[0]);
    for (int s = 1; s < kStages; ++s) {
      combine(size, stages_.state[0], stages_.slope, Weights{kStageWeight[s], s, batch_.step[image]}, stages_.state[s]);
      clock().lap(kCombinationWork);
      if (s < evaluated)
        field_.evaluate(stage(image, s), stages_.state[s], stages_.slope[s], tapes_[s]);
    }
  }

  // Before the sweep: gradients_[s] = d/d slope s through y_mid and f1, state_gradient_ = d/d y0 through y_mid.
  void begin_gradients(long image, double step) {
    const long size = field_.geometry().size();
    if (batch_.middle_gradient)
      read(batch_.middle_gradient, image, state_gradient_);
    else
      std::fill(state_gradient_, state_gradient_ + size, T(0));
    for (int s = 0; s < kStages; ++s) {
      const T weight = static_cast<T>(kMiddleWeight[s] * step);
      for (long i = 0; i < size; ++i) gradients_[s][i] = weight * state_gradient_[i];
    }
    add_read(batch_.next_slope_gradient, image, gradients_[kStages - 1]);
    add_read(batch_.first_slope_gradient, image, gradients_[0]);
  }

  static void add(const T* from, long size, T* to) {
    for (long i = 0; i < size; i += Lanes<T>::count) store<T>(to + i, load(to + i) + load(from + i));
  }

  // Hands the gradient of stage s's state to y0 and to the slopes it was made of.
  void spread(const T* gradient, int s, double step, long size) {
    constexpr int lanes = Lanes<T>::count;
    add(gradient, size, state_gradient_);
    for (int j = 0; j < s; ++j) {
      const T weight = static_cast<T>(kStageWeight[s][j] * step);
      if (weight == 0) continue;
      for (long i = 0; i < size; i += lanes)
        store<T>(gradients_[j] + i, load(gradients_[j] + i) + load(gradient + i) * weight);
    }
  }

  const T* at(const void* base, long image) const {
    const Geometry& g = field_.geometry();
    return static_cast<const T*>(base) + image * g.pixels() * g.channels;
  }

  void read(const void* base, long image, T* to) const { pad(field_.geometry(), at(base, image), to); }

  void write(const T* from, long image, void* base) const {
    if (base) unpad(field_.geometry(), from, const_cast<T*>(at(base, image)));
  }

  void add_read(const void* base, long image, T* to) const {
    if (!base) return;
    const Geometry& g = field_.geometry();
    const T* from = at(base, image);
    for (int p = 0; p < g.pixels(); ++p)
      for (int c = 0; c < g.channels; ++c)
        to[static_cast<long>(p) * g.padded + c] += from[static_cast<long>(p) * g.channels + c];
  }

  const DcnbioBatch& batch_;
  Field<T> field_;
  bool recording_;
  Stages<T> stages_;
  Tape<T> tapes_[kStages];
  T* gradients_[kStages];
  T* state_gradient_;
};

}  // namespace dcnbio
