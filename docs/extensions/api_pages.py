"""The reference of the Python names: one page per room, from the ``__all__`` of its modules."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

LONGEST = 120
MODEL = (
    "network", "spec", "rows", "loading", "checkpoint", "weights", "features", "patch", "check_field", "decoder",
    "decoder_checkpoint", "encoder_match", "vector_field", "module_field", "srf_conv", "srf_rule", "pixel_conv",
    "gaussian", "scales", "ode_block", "solver_settings", "solve", "solution", "status", "integrate", "interventions",
    "engine",
)  # fmt: skip
ROOMS: dict[str, tuple[str, ...]] = {
    "images": ("dcnbio.images",),
    "model": tuple(f"dcnbio.model.{name}" for name in MODEL),
    "probe": (
        "dcnbio.probe",
        "dcnbio.probe.filters",
        "dcnbio.probe.completion",
        "dcnbio.probe.completion.mechanism",
        "dcnbio.probe.contrast",
        "dcnbio.probe.responses",
        "dcnbio.probe.solver_check",
        "dcnbio.probe.reconstructed_images",
        "dcnbio.probe.reconstruction",
    ),
    "recording": ("dcnbio.recording", "dcnbio.recording.reductions", "dcnbio.recording.export"),
    "analysis": ("dcnbio.analysis.*",),
    "training": ("dcnbio.training", "dcnbio.training.measure", "dcnbio.training.images"),
    "figures": ("dcnbio.figures", "dcnbio.figures.kind", "dcnbio.figures.palette"),
    "report": ("dcnbio.report",),
    "errors": ("dcnbio.errors",),
}


def heading(text: str, line: str) -> str:
    """Underline a title."""
    return f"{text}\n{line * len(text)}\n"


def expanded(names: tuple[str, ...]) -> list[str]:
    """List modules; ``package.*`` stands for everything below it that has public names."""
    found = []
    for name in names:
        if not name.endswith(".*"):
            found.append(name)
            continue
        found += below(name.removesuffix(".*"))
    return found


def below(package: str) -> list[str]:
    """List a package's modules with public names; of a package that says what is public, that alone."""
    found = []
    for one in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        module = importlib.import_module(one.name)
        if getattr(module, "__all__", None):
            found.append(one.name)
        elif one.ispkg:
            found += below(one.name)
    return found


def first_line(module: ModuleType) -> str:
    """Give what a module says it is."""
    return (inspect.getdoc(module) or "").partition("\n\n")[0].replace("\n", " ")


def directive(module: str, name: str, value: Any) -> str:
    """Write the directive that documents a name."""
    if not callable(value) or not str(getattr(value, "__module__", "")).startswith("dcnbio"):
        return data(module, name, value)
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    options = ["   :members:"] if kind == "autoclass" else []
    return "\n".join([f".. {kind}:: {module}.{name}", *options]) + "\n"


def data(module: str, name: str, value: Any) -> str:
    """Write the directive of a constant, with the text below it in the module that defines it."""
    text = ""
    for other in [one for key, one in sorted(sys.modules.items()) if key.startswith("dcnbio.")]:
        if getattr(other, "__file__", None) and vars(other).get(name) is value:
            lines = ModuleAnalyzer.for_module(other.__name__).find_attr_docs().get(("", name), [])
            text = text or " ".join(line.strip() for line in lines).strip()
    shown = repr(value)
    options = [f"   :value: {shown}"] if len(shown) < LONGEST else []
    return "\n".join([f".. py:data:: {module}.{name}", *options, "", f"   {text}"]).rstrip() + "\n"


def module_section(module_name: str, room: str) -> str:
    """Write the section of one module; the room's own names stand under its title."""
    module = importlib.import_module(module_name)
    names = sorted(module.__all__, key=lambda name: (name.isupper(), name.lower()))
    title = [] if module_name == room else [heading(module_name, "-"), first_line(module) + "\n"]
    parts = [*title, f".. currentmodule:: {module_name}\n"]
    parts += [directive(module_name, name, getattr(module, name)) for name in names]
    return "\n".join(parts)


def front_door() -> str:
    """Write the page of ``import dcnbio``: each verb with where it is described in full."""
    import dcnbio

    lines = [heading("dcnbio", "="), first_line(dcnbio) + "\n"]
    lines.append(".. list-table::\n   :widths: 30 70\n")
    for name in sorted(dcnbio.__all__, key=str.lower):
        if name == "__version__":
            continue
        module, attribute = dcnbio.PLACES.get(name, ("dcnbio.probe", name))
        value = getattr(importlib.import_module(module), attribute)
        claim = (inspect.getdoc(value) or "").partition("\n")[0]
        claim = "The paper's rows by name, and the variants of ODE-Net in its Table 6." if name == "ROWS" else claim
        lines.append(f"   * - `dcnbio.{name} <{module}.{attribute}>`\n     - {claim}")
    return "\n".join(lines) + "\n"


def api_pages() -> dict[str, str]:
    """Write all pages.

    Returns
    -------
    dict of str to str
        reStructuredText by the page's name.
    """
    made = {"dcnbio": front_door()}
    for room, names in ROOMS.items():
        module = importlib.import_module(f"dcnbio.{room}")
        parts = [heading(f"dcnbio.{room}", "="), first_line(module) + "\n"]
        made[room] = "\n".join([*parts, *(module_section(name, f"dcnbio.{room}") for name in expanded(names))])
    return made
