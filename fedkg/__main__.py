"""`python -m fedkg` is the command `fedkg`."""

from fedkg.cli.main import main

if __name__ == "__main__":
    main(prog_name="fedkg")
