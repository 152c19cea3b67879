"""Run the command line with `python -m tellapart`."""

from tellapart.cli import main

if __name__ == "__main__":
    main()
