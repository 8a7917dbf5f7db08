"""Dollars: usage times dated prices, in exact integers, computed when asked for and never stored (ADR 7).

Start at ``price.py``: one request, or many alike, and a price book. ``book.py`` unites the layers of prices
(``layer.py``): the shipped catalog, our overlay, the user's ``prices.toml``. The other modules are reports over priced
requests, and each is a function of what it is given.
"""
