"""Networks, shared by control and by nonlinear prediction: layers and heads, ways to represent h, flat weights."""

from gpbe.nets.flat import Layout, flat, layout_of
from gpbe.nets.layers import (
    Activation,
    Body,
    Convolution,
    Linear,
    MakeBody,
    Network,
    OneByOne,
    Style,
    count_layers,
    is_image,
    network,
    relu,
)
from gpbe.nets.second import (
    Basis,
    along_gradient,
    marked,
    marked_detached,
    marked_second,
    second_outputs,
    start_second,
    zero_at_start,
)

__all__ = [
    "Activation",
    "Basis",
    "Body",
    "Convolution",
    "Layout",
    "Linear",
    "MakeBody",
    "Network",
    "OneByOne",
    "Style",
    "along_gradient",
    "count_layers",
    "flat",
    "is_image",
    "layout_of",
    "marked",
    "marked_detached",
    "marked_second",
    "network",
    "relu",
    "second_outputs",
    "start_second",
    "zero_at_start",
]
