"""Learning algorithms as pure functions. They know no environment, loop, file or random key."""
