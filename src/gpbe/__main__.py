"""`python -m gpbe`: the command line."""

from gpbe.cli import main

if __name__ == "__main__":
    main()
