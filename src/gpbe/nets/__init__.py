"""Networks: layers and heads, shared by control and by nonlinear prediction."""

from gpbe.nets.layers import Body, Linear, MakeBody, Network, OneByOne, network, relu

__all__ = ["Body", "Linear", "MakeBody", "Network", "OneByOne", "network", "relu"]
