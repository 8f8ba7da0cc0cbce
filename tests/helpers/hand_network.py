"""A network with one hidden layer and its gradient, written out in float64."""

import numpy as np


class Net:
    """out = Wo relu(W x + b) + bo, its weights one vector; only the first `live` outputs reach W and b."""

    def __init__(self, w, inputs, width, outputs, live=None):
        cuts = np.cumsum([width * inputs, width, outputs * width])
        parts = np.split(w, cuts)
        self.W, self.b = parts[0].reshape(width, inputs), parts[1]
        self.Wo, self.bo = parts[2].reshape(outputs, width), parts[3]
        self.live = outputs if live is None else live

    def features(self, x):
        return np.maximum(self.W @ x + self.b, 0)

    def out(self, x):
        return self.Wo @ self.features(x) + self.bo

    def grad(self, x, c):
        """Of c . out(x), in the order of the vector."""
        z = self.features(x)
        back = (self.Wo[: self.live].T @ c[: self.live]) * (z > 0)
        return np.concatenate([np.outer(back, x).ravel(), back, np.outer(c, z).ravel(), c])


def one_hot(a, n):
    return np.eye(n)[a]
