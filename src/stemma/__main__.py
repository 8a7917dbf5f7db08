"""``stemma`` and ``python -m stemma``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the status line by a way of its own, since an agent waits for it at every turn."""
    if sys.argv[1:2] == ["statusline"]:
        from stemma.cli import statusline  # noqa: PLC0415 - so that each way loads only what it needs

        if statusline.run(sys.argv[2:]):
            return
    from stemma.cli.app import main as everything  # noqa: PLC0415

    everything()


if __name__ == "__main__":
    main()
