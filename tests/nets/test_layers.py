"""Networks: ReLU's derivative in every precision, what does not reach the body, and styles by their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import signal

from gpbe.nets import Linear, Style, network, relu

POINTS = [-3.0, -1e-30, 0.0, 1e-30, 0.7, 5.0]


def has(dtype) -> bool:
    """XLA cannot make programs with float16 for a processor that has no instructions for it."""
    try:
        jnp.asarray(POINTS, jnp.float32).astype(dtype)
    except jax.errors.JaxRuntimeError:
        return False
    return True


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64])
def test_relu_and_its_derivative(dtype):
    """0 up to 0, and 1 above; in the precision that it is given, backwards and forwards."""
    if dtype == jnp.float16 and not has(dtype):
        pytest.skip("this processor has no float16")
    with jax.enable_x64(dtype == jnp.float64):
        x = jnp.asarray(POINTS, dtype)
        tangent = jnp.arange(1, 7, dtype=dtype)
        value, forwards = jax.jvp(relu, (x,), (tangent,))
        (backwards,) = jax.vjp(relu, x)[1](tangent)
        positive = np.asarray(x, float) > 0  # 1e-30 is 0 in half precision
        assert value.dtype == forwards.dtype == backwards.dtype == dtype
        np.testing.assert_array_equal(value, np.where(positive, x, 0))
        np.testing.assert_array_equal(forwards, np.where(positive, tangent, 0))
        np.testing.assert_array_equal(backwards, np.where(positive, tangent, 0))


@pytest.mark.slow
def test_a_network_learns_in_64_bits():
    """Its gradient is that of finite differences, to more digits than 32 bits have."""
    with jax.enable_x64(True):
        net = network((3,), 2, (5,), jax.random.key(0))
        x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 4)))
        bias = net.head.bias
        assert bias.dtype == jnp.float64

        def loss(x):
            return (net(x) ** 2).sum()

        slope = (loss(x + 1e-6) - loss(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(jax.grad(loss)(x).sum(), slope, rtol=1e-8)


def test_detached_outputs_do_not_move_the_body():
    net = network((3,), 2, (5,), jax.random.key(0), detached=2)
    x = jnp.ones((3, 1))
    live, held = (jax.grad(lambda x, k=k: net(x)[k].sum())(x) for k in (0, 3))
    assert np.abs(live).max() > 0
    np.testing.assert_array_equal(held, 0)


def test_filters_are_scipys_correlation_and_the_rest_of_a_style_is_its_definition():
    """An image of odd sizes, 3 x 3 filters at every place; mean 0 and variance 1 over all units; then the slope."""
    style = Style(filters=3, layer_norm=True, activation="leaky-relu")
    net = network((5, 7, 2), 4, (6,), jax.random.key(0), style=style)
    image = np.random.default_rng(0).normal(size=(5, 7, 2))
    convolution, dense = net.body.layers
    filters = np.asarray(convolution.filters.weight).reshape(3, 3, 3, 2)
    maps = [signal.correlate(image, f, mode="valid")[..., 0] for f in filters]
    x = np.concatenate([m.ravel() + b for m, b in zip(maps, convolution.filters.bias, strict=True)])

    def activated(x):
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
        return np.where(x > 0, x, 0.01 * x)

    x = activated(np.asarray(dense.weight) @ activated(x) + dense.bias)
    want = np.asarray(net.head.weight) @ x + net.head.bias
    np.testing.assert_allclose(net(jnp.asarray(image.reshape(-1, 1), jnp.float32))[:, 0], want, rtol=1e-4, atol=1e-5)


def test_sparse_weights():
    """Nine of ten weights into each unit are 0 (rounded up), others within 1 / sqrt(inputs); not the same in all."""
    layer = Linear(37, 11, jax.random.key(0), sparsity=0.9)
    zeros = np.asarray(layer.weight) == 0
    assert (zeros.sum(axis=1) == 34).all()
    assert len(np.unique(zeros, axis=0)) > 5
    assert 0.5 * 37**-0.5 < np.abs(layer.weight).max() < 37**-0.5
    assert (np.asarray(layer.bias) == 0).all()
