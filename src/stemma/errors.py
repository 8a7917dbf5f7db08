"""Everything that Stemma raises on purpose.

::

    StemmaError
    ├── SettingsError            a setting is unknown, malformed or out of range
    ├── CollectError             reading the agents' files
    │   ├── ContainmentError     a path escaped its root between check and use; that root halts
    │   ├── SourceVanished       the file went away between listing and reading
    │   └── SourceRewritten      the bytes before the checkpoint changed; a new generation begins
    └── StoreError               reading or writing the database
        ├── StoreBusy            another process holds the write lock
        ├── SchemaTooNew         the database was written by a newer Stemma
        ├── MigrationEdited      an applied migration no longer matches its checksum
        ├── Damaged              the database file failed its integrity check
        └── NotFound             nothing is stored under the key that was asked for

Bad evidence is never an error: it is a ``Problem`` value, which is stored and counted.
A message says what is wrong and, where a person can act on it, what to do.
"""


class StemmaError(Exception):
    """Base of every error that Stemma raises on purpose."""


class SettingsError(StemmaError):
    """A setting is unknown, malformed or out of range."""


class CollectError(StemmaError):
    """The agents' files could not be read as they should be."""


class ContainmentError(CollectError):
    """A path was found to leave its root between check and use: the run over that root halts."""


class SourceVanished(CollectError):
    """A source disappeared between being listed and being read."""


class SourceRewritten(CollectError):
    """The bytes before a source's checkpoint are not those that were read."""


class StoreError(StemmaError):
    """The database could not be read or written."""


class StoreBusy(StoreError):
    """Another process holds the write lock."""


class SchemaTooNew(StoreError):
    """The database was written by a newer version of Stemma."""


class MigrationEdited(StoreError):
    """A migration that was already applied no longer matches its recorded checksum."""


class Damaged(StoreError):
    """The database file failed its integrity check."""


class NotFound(StoreError):
    """Nothing is stored under the key that was asked for."""
