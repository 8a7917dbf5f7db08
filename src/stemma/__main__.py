"""``python -m stemma``."""

from stemma.cli.app import main

if __name__ == "__main__":
    main()
