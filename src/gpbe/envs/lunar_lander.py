"""Lunar Lander with Gymnasium's numbers, to the last bit, in less time (`benchmarks/lunar_lander.py`)."""

import math
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import EzPickle
from jaxtyping import Float

from gpbe.errors import InputError

with warnings.catch_warnings():
    # Box2D's types warn when they are first imported; where warnings are errors, that kills the process.
    warnings.filterwarnings("ignore", "builtin type .* has no __module__", DeprecationWarning)
    import Box2D
    from gymnasium.envs.box2d import lunar_lander as theirs
    from gymnasium.envs.box2d.lunar_lander import (
        FPS,
        INITIAL_RANDOM,
        LANDER_POLY,
        LEG_AWAY,
        LEG_DOWN,
        LEG_H,
        LEG_SPRING_TORQUE,
        LEG_W,
        MAIN_ENGINE_POWER,
        MAIN_ENGINE_Y_LOCATION,
        SCALE,
        SIDE_ENGINE_AWAY,
        SIDE_ENGINE_HEIGHT,
        SIDE_ENGINE_POWER,
        VIEWPORT_H,
        VIEWPORT_W,
        ContactDetector,
    )

NAME = "LunarLander-v3"
CHECKED = {"gymnasium": ("1.3.0",), "Box2D": ("2.3.10",)}
"""These are the versions with which the numbers were found to be the same."""

WIDTH, HEIGHT = VIEWPORT_W / SCALE, VIEWPORT_H / SCALE
CENTER_X, CENTER_Y = WIDTH / 2, HEIGHT / 2
CHUNKS = 11
"""The terrain has this many points; the middle five are as high as the pad."""
CHUNK_X = [WIDTH / (CHUNKS - 1) * i for i in range(CHUNKS)]
PAD, PAD_Y = slice(CHUNKS // 2 - 2, CHUNKS // 2 + 3), HEIGHT / 4
STANDING_Y = PAD_Y + LEG_DOWN / SCALE
STEP = 1 / FPS, 6 * 30, 2 * 30
"""A step takes these seconds, and these iterations of Box2D's solver for velocities and for positions."""
COST = {0: 0.0, 1: 0.03, 2: 0.3, 3: 0.03}
"""An action costs the fuel that it burns."""
MAIN_DOWN = MAIN_ENGINE_Y_LOCATION / SCALE
SIDE_AWAY = {1: -SIDE_ENGINE_AWAY / SCALE, 3: SIDE_ENGINE_AWAY / SCALE}
SIDE_HEIGHT = 17
"""Gymnasium places the side engines with this in x and SIDE_ENGINE_HEIGHT in y; it documents and keeps the mismatch."""


def make_lunar_lander() -> gymnasium.Env:
    """Lunar Lander as `gymnasium.make` gives it, but faster where that is known to change no bit.

    With other versions of Gymnasium or Box2D it is Gymnasium's own.

    >>> env = make_lunar_lander()
    >>> observation, _ = env.reset(seed=3)
    >>> observation.shape, env.spec.id
    ((8,), 'LunarLander-v3')
    """
    return LunarLander() if _is_checked() else gymnasium.make(NAME)


def _is_checked() -> bool:
    try:
        return all(version(package) in versions for package, versions in CHECKED.items())
    except PackageNotFoundError:  # Box2D has been distributed under several names
        return False


class Contacts(ContactDetector):
    """Gymnasium's record of what touches the ground.

    Box2D also reports every touching contact twice in every step. Nothing is done about these reports, but unless they
    end here, each goes from Python back to C++.
    """

    def PreSolve(self, contact: Any, old: Any) -> None: ...

    def PostSolve(self, contact: Any, impulse: Any) -> None: ...


class LunarLander(gymnasium.Env, EzPickle):
    """Gymnasium's Lunar Lander with its default arguments and time limit, never rendered.

    The world is Box2D's, of the same parts, made in the same order and given the same impulses, so Box2D computes the
    same. What is saved is the way there: wrappers and checks, definitions that were made anew for every episode, and
    numbers that Box2D was asked for twice. The other arithmetic keeps Gymnasium's order of operations, in doubles.
    """

    def __init__(self) -> None:
        EzPickle.__init__(self)
        original = theirs.LunarLander()
        self.observation_space, self.action_space = original.observation_space, original.action_space
        self.spec = gymnasium.spec(NAME)
        self._gravity = 0, original.gravity
        self._limit = self.spec.max_episode_steps or math.inf
        self._steps: int | None = None
        # Box2D copies definitions when it makes something of them, so they serve all episodes. Environments do not
        # share them, because they may live in different threads.
        self._contacts = Contacts(self)
        self._moon = Box2D.b2BodyDef(shapes=Box2D.b2EdgeShape(vertices=[(0, 0), (WIDTH, 0)]))
        self._edge = Box2D.b2EdgeShape()
        self._ground = Box2D.b2FixtureDef(shape=self._edge, density=0, friction=0.1)
        hull = Box2D.b2PolygonShape(vertices=[(x / SCALE, y / SCALE) for x, y in LANDER_POLY])
        self._hull = _part(CENTER_X, 0.0, shape=hull, density=5.0, friction=0.1, categoryBits=0x0010)
        self._legs = [_leg(-1, 0.9 - 0.5, 0.9), _leg(1, -0.9, -0.9 + 0.5)]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, in a new world as Gymnasium does: an old one does not forget all that was in it."""
        gymnasium.Env.reset(self, seed=seed)
        random = self.np_random
        self._steps = None  # a reset that is interrupted leaves nothing to step
        world = Box2D.b2World(gravity=self._gravity)
        world.contactListener = self._contacts
        self.game_over = False

        heights = random.uniform(0, HEIGHT / 2, size=CHUNKS + 1).tolist()
        heights[PAD] = [PAD_Y] * 5
        smooth = [0.33 * (heights[i - 1] + heights[i] + heights[i + 1]) for i in range(CHUNKS)]
        points = list(zip(CHUNK_X, smooth, strict=True))
        moon = world.CreateBody(self._moon)
        for i in range(CHUNKS - 1):
            self._edge.vertex1, self._edge.vertex2 = points[i], points[i + 1]
            moon.CreateFixture(self._ground)

        lander = self.lander = world.CreateBody(self._hull)
        lander.ApplyForceToCenter(random.uniform(-INITIAL_RANDOM, INITIAL_RANDOM, size=2).tolist(), True)
        self.legs = []
        for part, joint in self._legs:
            leg = world.CreateBody(part)
            leg.ground_contact = False
            joint.bodyA, joint.bodyB = lander, leg
            world.CreateJoint(joint)
            self.legs.append(leg)

        # The method keeps the world, and with it all bodies.
        self._random, self._advance = random.random, world.Step
        self._shaping, self._steps = 0.0, -1
        return self.step(0)[0], {}

    def step(self, action: int) -> tuple[Float[np.ndarray, " 8"], float, bool, bool, dict[str, Any]]:
        """Act for one frame: 0 does nothing, 2 fires the main engine, 1 and 3 one at a side."""
        if self._steps is None:
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        if action not in COST:
            raise InputError(f"{NAME} has no action {action!r}; it should be one of 0, 1, 2, 3")
        self._steps += 1
        lander, (leg_1, leg_2) = self.lander, self.legs
        # Gymnasium draws both whether an engine fires or not. `uniform(-1, 1)` is -1 + 2 u; doubling u is exact.
        down, away = (2.0 * self._random() - 1.0) / SCALE, (2.0 * self._random() - 1.0) / SCALE
        if action:
            # Nothing moves between two steps: the last observation was made of the present position and angle.
            x, y, angle = self._at
            sin, cos = math.sin(angle), math.cos(angle)
            if action == 2:
                power, down = MAIN_ENGINE_POWER, MAIN_DOWN + 2 * down
            else:
                power, away = SIDE_ENGINE_POWER, 3 * away + SIDE_AWAY[action]
            to_x, to_y = sin * down - cos * away, -cos * down - sin * away
            x, y = x + to_x, y + to_y
            if action != 2:
                x, y = x - sin * SIDE_HEIGHT / SCALE, y + cos * SIDE_ENGINE_HEIGHT / SCALE
            lander.ApplyLinearImpulse((-to_x * power, -to_y * power), (x, y), True)

        self._advance(*STEP)

        position, velocity = lander.position, lander.linearVelocity
        x, y, angle = self._at = position.x, position.y, lander.angle
        x, y = (x - CENTER_X) / CENTER_X, (y - STANDING_Y) / CENTER_Y
        vx, vy = velocity.x * CENTER_X / FPS, velocity.y * CENTER_Y / FPS
        spin = 20.0 * lander.angularVelocity / FPS
        left, right = (1.0 if leg_1.ground_contact else 0.0), (1.0 if leg_2.ground_contact else 0.0)
        # Square roots are rounded correctly, by NumPy and here.
        distance, speed = math.sqrt(x * x + y * y), math.sqrt(vx * vx + vy * vy)
        shaping = -100 * distance - 100 * speed - 100 * abs(angle) + 10 * left + 10 * right
        reward = shaping - self._shaping - COST[action]
        self._shaping = shaping
        terminated = False
        if self.game_over or abs(x) >= 1.0:
            terminated, reward = True, -100.0
        if not lander.awake:
            terminated, reward = True, 100.0
        observation = np.array((x, y, vx, vy, angle, spin, left, right), np.float32)
        return observation, reward, terminated, self._steps >= self._limit, {}


def _part(x: float, angle: float, **fixture: Any) -> Box2D.b2BodyDef:
    """Define a body at the top of the view that collides with the ground only."""
    fixtures = Box2D.b2FixtureDef(restitution=0.0, maskBits=0x001, **fixture)
    return Box2D.b2BodyDef(type=Box2D.b2_dynamicBody, position=(x, HEIGHT), angle=angle, fixtures=fixtures)


def _leg(side: int, lower: float, upper: float) -> tuple[Box2D.b2BodyDef, Box2D.b2RevoluteJointDef]:
    """Define a leg and its joint, a spring that turns between two angles."""
    angle = side * 0.05
    shape = Box2D.b2PolygonShape(box=(LEG_W / SCALE, LEG_H / SCALE))
    part = _part(CENTER_X - side * LEG_AWAY / SCALE, angle, shape=shape, density=1.0, categoryBits=0x0020)
    joint = Box2D.b2RevoluteJointDef(
        localAnchorA=(0, 0),
        localAnchorB=(side * LEG_AWAY / SCALE, LEG_DOWN / SCALE),
        referenceAngle=angle,
        enableMotor=True,
        enableLimit=True,
        maxMotorTorque=LEG_SPRING_TORQUE,
        motorSpeed=0.3 * side,
        lowerAngle=lower,
        upperAngle=upper,
    )
    return part, joint
