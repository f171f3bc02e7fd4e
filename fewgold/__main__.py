"""``python -m fewgold`` is the command ``fewgold``."""

from fewgold.cli import main

if __name__ == "__main__":
    main()
