"""Networks: ReLU's derivative in every precision, and what does not reach the body."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpbe.nets import network, relu

POINTS = [-3.0, -1e-30, 0.0, 1e-30, 0.7, 5.0]


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64])
def test_relu_and_its_derivative(dtype):
    """0 up to 0, and 1 above; in the precision that it is given, backwards and forwards."""
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
