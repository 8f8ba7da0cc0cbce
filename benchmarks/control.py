"""Steps a second of deep control, beside stable-baselines3's DQN; the same as `gpbe bench control`."""

from gpbe.cli import main

if __name__ == "__main__":
    main(["bench", "control"])
