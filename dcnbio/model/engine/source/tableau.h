// The Dormand-Prince 5(4) pair with Shampine's mid-point, as torchdiffeq 0.2.5 holds it.
// Dormand and Prince (1980), doi:10.1016/0771-050X(80)90013-3; Shampine (1986), doi:10.2307/2008219.
#pragma once

namespace dcnbio {

constexpr int kStages = 7;

constexpr double kStageTime[kStages] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};

// Row i makes the state of stage i from the slopes before it; the last row is the solution (first same as last).
constexpr double kStageWeight[kStages][kStages] = {
    {},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};

constexpr double kErrorWeight[kStages] = {
    35.0 / 384 - 1951.0 / 21600, 0.0, 500.0 / 1113 - 22642.0 / 50085, 125.0 / 192 - 451.0 / 720,
    -2187.0 / 6784 - -12231.0 / 42400, 11.0 / 84 - 649.0 / 6300, -1.0 / 60,
};

constexpr double kMiddleWeight[kStages] = {
    6025192743.0 / 30085553152.0 / 2, 0.0, 51252292925.0 / 65400821598.0 / 2, -2691868925.0 / 45128329728.0 / 2,
    187940372067.0 / 1594534317056.0 / 2, -1776094331.0 / 19743644256.0 / 2, 11237099.0 / 235043384.0 / 2,
};

}  // namespace dcnbio
