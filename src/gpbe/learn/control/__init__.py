"""Control: the compiled loop, runs side by side in an environment, checkpoints, and the agents that training leaves."""
