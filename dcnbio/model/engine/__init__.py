"""The fast engine: a compiled CPU kernel for a DCN's vector field, its Runge-Kutta steps, and their exact gradients.

It computes dh/dt = N3(conv2(g(N2(conv1(g(N1(h)), t))), t)) (equation 2), where an SRF convolution runs as separable
filters and a mixing of channels, so that its cost hardly grows with sigma. A dense kernel, which a sigma per channel
pair needs, is one product of channels per frequency of a map's rows. C++ is compiled at first use with the system's
compiler; where that fails, or with ``DCNBIO_ENGINE=off``, `available` is false and says why, and the caller takes the
plain path.

1. Describe the field in tensors: `FieldParameters` of two `SeparableKernel` or `PixelKernel` and three `GroupNorm`.
2. Once per solve: ``field = CompiledField.of(parameters, height, width)`` packs the weights. Where taps or alphas
   depend on time, once per call, with one set per stage.
3. Call, without autograd:

   - ``evaluate(field, time, state) -> slope``
   - ``attempt(field, (y0, f0), time, step, Tolerance(rtol, atol)) -> EngineAttempt(y1, f1, y_mid, squares)``
   - ``evaluate_vjp(field, time, state, slope_gradient, gradients) -> (slope, state_gradient)``
   - ``attempt_vjp(field, (y0, f0 or None), time, step, AttemptGradients(...), gradients)``
     ``-> (y0_gradient, f0_gradient or None)``

   where ``gradients = new_gradients(field)`` is one tensor per ``parameters.tensors()``, added to;
   or with autograd: `differentiable_evaluate`, `differentiable_attempt`.

State and slope are [n, C, Y, X] in channels-last memory (any other is copied); time and step are scalar or [n],
float64. An image's forward numbers are the same bits alone, in any batch and with any number of threads; parameter
gradients are the same bits for the same batch, whatever the number of threads. Threads: ``torch.get_num_threads()``.

Between steps, `fill_dense_output` writes the solution at many times of many images.

Outside ODE blocks, `separable_conv2d` is one SRF convolution of any channels and stride, with autograd.

Compiled libraries are kept in ``DCNBIO_CACHE``, else in ``dcnbio`` under the user's cache folder.
"""

from dcnbio.model.engine.availability import available
from dcnbio.model.engine.batch import work_seconds
from dcnbio.model.engine.calls import (
    AttemptGradients,
    EngineAttempt,
    Tolerance,
    attempt,
    attempt_vjp,
    evaluate,
    evaluate_vjp,
)
from dcnbio.model.engine.compiled_field import CompiledField
from dcnbio.model.engine.dense import dense_output_fits, fill_dense_output
from dcnbio.model.engine.differentiable import differentiable_attempt, differentiable_evaluate, new_gradients
from dcnbio.model.engine.layer import separable_conv2d
from dcnbio.model.engine.library import EngineStatus
from dcnbio.model.engine.parameters import FieldParameters, GroupNorm, PixelKernel, SeparableKernel

__all__ = [
    "AttemptGradients",
    "CompiledField",
    "EngineAttempt",
    "EngineStatus",
    "FieldParameters",
    "GroupNorm",
    "PixelKernel",
    "SeparableKernel",
    "Tolerance",
    "attempt",
    "attempt_vjp",
    "available",
    "dense_output_fits",
    "differentiable_attempt",
    "differentiable_evaluate",
    "evaluate",
    "evaluate_vjp",
    "fill_dense_output",
    "new_gradients",
    "separable_conv2d",
    "work_seconds",
]
