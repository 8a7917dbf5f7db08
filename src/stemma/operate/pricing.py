"""The prices in force: those that ship with the program, under the user's own."""

from __future__ import annotations

from pathlib import Path

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.shipped import price_book
from stemma.errors import SettingsError
from stemma.settings import Settings, this_machine


def prices_file(settings: Settings) -> Path:
    """Where the user's own prices are, whether or not the file exists.

    Args:
        settings: Settings in force; the key ``prices`` names the file.
    """
    named: Path | None = getattr(settings, "prices", None)
    return named or this_machine().config_folder / "prices.toml"


def load_book(settings: Settings) -> PriceBook:
    """The price book, read anew; call it once a command.

    Args:
        settings: Settings in force.

    Raises:
        SettingsError: The user's file cannot be read or says something wrong.
    """
    return book_of(prices_file(settings))


def book_of(path: Path) -> PriceBook:
    """The shipped prices under those of a file; alone when there is no such file.

    Args:
        path: A ``prices.toml``.

    Raises:
        SettingsError: See ``load_book``.
    """
    base = price_book()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return base
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    from stemma.derive.cost.user import UserPrices  # noqa: PLC0415 - loads TOML, decimals and dates

    return price_book(UserPrices(text, base, str(path)))
