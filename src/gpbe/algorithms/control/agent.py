"""What an agent is: networks, a way to act, and how each output of the networks should change.

An algorithm is stated on the outputs of its networks for one transition: `directions` says how each should move. To
pull that back through the networks, add the penalty on the second weights and take the optimizer's step is the same for
every algorithm, and done once, by whoever runs the agent.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gpbe.algorithms.control.hyperparameters import Hypers
from gpbe.algorithms.control.maximum import Greedy
from gpbe.nets import MakeBody, Network, Style, count_layers, marked, network

Params = Any
"""An agent's networks: a tree of arrays."""
Outputs = Any
"""A named tuple of outputs; in a batch, the last axis is that of the samples."""


class Sampled(NamedTuple):
    """One replayed transition, without its observations."""

    action: Any
    reward: Any
    discount: Any
    """gamma, or 0 where the episode ended."""
    probability: Any
    """The chance with which the action was taken."""


class Choice(NamedTuple):
    """The random numbers of one action."""

    explore: Any
    """True with probability epsilon."""
    uniform: Any
    """A number in [0, 1)."""


class Action(NamedTuple):
    """An action, and what is known of how it was chosen."""

    chosen: Any
    probability: Any
    finite: Any
    """Are the outputs that it was chosen by finite? If not, the weights are not either."""
    greedy: Any = True
    """Is it the greedy action?"""


class Spec(NamedTuple):
    """The shapes that an agent's networks need (observations, actions, layers), and how they are made."""

    observation: tuple[int, ...]
    actions: int
    hidden: tuple[int, ...]
    body: MakeBody | None
    style: Style = Style()

    @property
    def layer_weights(self) -> int:
        """How many weights the layers before the last have; 0 for a body of one's own."""
        return 0 if self.body is not None else count_layers(self.observation, self.hidden, self.style.filters)

    def network(self, outputs: int, key: PRNGKeyArray, detached: int = 0, width: float = 1.0) -> Network:
        """A network with these outputs; `width` multiplies the units in each layer."""
        hidden = tuple(max(1, round(width * n)) for n in self.hidden)
        return network(self.observation, outputs, hidden, key, self.body, detached, self.style)


@runtime_checkable
class Agent(Protocol):
    """The part of an algorithm that acts, and that says how its networks' outputs should change.

    It is frozen and hashable, because the compiled program depends on it.

    >>> from gpbe.algorithms.control import find_algorithm
    >>> isinstance(find_algorithm("qrc").make(), Agent)
    True
    """

    def start(self, spec: Spec, key: PRNGKeyArray) -> Params: ...

    def preferences(self, params: Params, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        """A number for each action; the greedy action has the largest."""
        ...

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action: ...

    def outputs(self, params: Params, target: Params | None, s: Array, s_next: Array) -> Outputs:
        """What the networks say of a batch. With a target network, S' is valued by it, and nothing moves it."""
        ...

    def directions(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Outputs:
        """How each output should change after one transition. `hypers.epsilon` is that of the present step."""
        ...

    def penalized(self, params: Params) -> Params:
        """1 for the second weights, whose size beta penalizes; 0 for others."""
        ...

    def actor(self, params: Params) -> Params:
        """1 for weights of a policy, which learn with nu times the step size; 0 for others."""
        ...


class Errors(NamedTuple):
    """The errors of an agent's values at one transition.

    >>> Errors(delta=jnp.asarray(0.5), h=None).h is None
    True
    """

    delta: Array
    """The TD error."""
    h: Array | None
    """The estimate of its mean at (S, A), or at S; None if none is learned."""


@runtime_checkable
class Measurable(Protocol):
    """An agent that tells its errors, for those who watch it learn.

    >>> from gpbe.algorithms.control import ALGORITHMS
    >>> isinstance(ALGORITHMS["qrc"].make(), Measurable)
    True
    """

    def errors(self, out: Outputs, t: Sampled, hypers: Hypers, greedy: Callable[[Array], Greedy]) -> Errors:
        """The errors of one transition."""
        ...


class Valued(NamedTuple):
    """Networks of an agent that learns action values."""

    q: Network
    h: Any = None
    """A network of its own, or one weight for each of q's; None if h is a head of q's network, or not learned."""


class ByValue:
    """Acting on action values: epsilon-greedily.

    >>> choice = Choice(explore=jnp.asarray(False), uniform=jnp.asarray(0.9))
    >>> action = ByValue().act(jnp.array([1.0, 3.0]), choice, jnp.asarray(0.1))
    >>> int(action.chosen), round(float(action.probability), 4)  # 1 - epsilon, and half of epsilon
    (1, 0.95)
    """

    def preferences(self, params: Valued, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        return params.q(x)[: params.q.live]

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
        return epsilon_greedy(preferences, choice, epsilon)

    def actor(self, params: Valued) -> Valued:
        return marked(params)


class ActorCritic(NamedTuple):
    """Networks of an agent with a policy."""

    critic: Network
    policy: Network


class ByPolicy:
    """Acting by a policy of its own, which is sampled.

    >>> choice = Choice(explore=jnp.asarray(False), uniform=jnp.asarray(0.9))
    >>> action = ByPolicy().act(jnp.zeros(2), choice, jnp.asarray(0.0))  # equal logits
    >>> int(action.chosen), float(action.probability)
    (1, 0.5)
    """

    def networks(self, spec: Spec, key: PRNGKeyArray, second: int) -> ActorCritic:
        """A critic with one value and `second` detached outputs, and a policy."""
        key_critic, key_policy = jax.random.split(key)
        return ActorCritic(spec.network(1, key_critic, detached=second), spec.network(spec.actions, key_policy))

    def preferences(self, params: ActorCritic, x: Float[Array, "I B"]) -> Float[Array, "A B"]:
        return params.policy(x)

    def act(self, preferences: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
        return sample_policy(preferences, choice)

    def actor(self, params: ActorCritic) -> ActorCritic:
        return marked(params, lambda p: p.policy)


def now_and_next(net: Network, held: Network | None, s: Array, s_next: Array) -> tuple[Array, Array]:
    """All outputs at S, and the live ones at S'.

    `held` values S' instead of `net`, and nothing moves it: a target network, or the network itself where no gradient
    goes through S'. Otherwise S and S' take one pass.
    """
    if held is not None:
        return net(s), jax.lax.stop_gradient(held(s_next)[: net.live])
    both = net(jnp.concatenate([s, s_next], axis=1))
    return both[:, : s.shape[1]], both[: net.live, s.shape[1] :]


def epsilon_greedy(q: Float[Array, " A"], choice: Choice, epsilon: Array) -> Action:
    actions = q.shape[0]
    best = q.argmax()
    chosen = jnp.where(choice.explore, (choice.uniform * actions).astype(best.dtype), best)
    probability = epsilon / actions + (1 - epsilon) * (chosen == best)
    return Action(chosen, probability, jnp.isfinite(q.sum()), chosen == best)


def sample_policy(logits: Float[Array, " A"], choice: Choice) -> Action:
    """An action that is drawn from the softmax of the logits."""
    probabilities = jax.nn.softmax(logits)
    below = (jnp.cumsum(probabilities)[:-1] <= choice.uniform).sum()
    return Action(below, probabilities[below], jnp.isfinite(logits.sum()))
