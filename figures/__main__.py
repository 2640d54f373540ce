"""`python -m figures`."""

from figures.cli import main

if __name__ == "__main__":
    main()
