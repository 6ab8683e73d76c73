"""``python -m confir`` is the command ``confir``."""

from confir.cli import main

if __name__ == "__main__":
    main()
