"""A complete pass over one root: every source, every skip, every folder, in the order of their paths."""

from collections.abc import Iterator

from msgspec import Struct

from stemma.collect.contain import Root
from stemma.collect.duplicates import duplicate_sessions
from stemma.collect.listing import DirectoryStamp, Listing, Place, list_folder
from stemma.errors import SourceVanished
from stemma.model.source import RootSpec, Skip, SourceFile


class Discovery(Struct, frozen=True):
    """What a root holds. All sorted by path.

    Attributes:
        files: Sources to read.
        skips: Paths that are not read and why; and the sources of projects that claim another project's session.
        directories: The folders that were listed.
        held: Files among the skips that become sources when their state changes.
    """

    files: list[SourceFile]
    skips: list[Skip]
    directories: list[DirectoryStamp]
    held: list[SourceFile]


def discover(spec: RootSpec, place: Place) -> Discovery:
    """List a whole root.

    Args:
        spec: The root.
        place: Reads paths.

    Returns:
        Everything in it.

    Raises:
        SourceVanished: The root does not exist, or the one project asked for does not.
        ContainmentError: A folder was swapped for a symbolic link while it was being listed.
        CollectError: The root cannot be listed.
    """
    with Root(spec.path) as root:
        listings = list(walk(root, "", place, spec.only_slug))
    candidates = [found for listing in listings for found in listing.candidates]
    files = [found.file for found in candidates if found.skip is None]
    skips = [skip for listing in listings for skip in listing.skips]
    skips += [listing.refused for listing in listings if listing.refused is not None]
    skips += [found.skip for found in candidates if found.skip is not None]
    skips += duplicate_sessions(found.file for found in candidates)
    return Discovery(
        sorted(files, key=lambda file: file.relpath),
        sorted(skips, key=lambda skip: (skip.relpath, skip.reason)),
        sorted((listing.stamp for listing in listings), key=lambda stamp: stamp.relpath),
        sorted((found.file for found in candidates if found.skip), key=lambda file: file.relpath),
    )


def walk(root: Root, start: str, place: Place, only_slug: str | None = None) -> Iterator[Listing]:
    """List a folder and everything below it, outer folders first; what vanishes meanwhile is left out.

    Raises:
        SourceVanished: ``start`` itself is gone.
        ContainmentError: A folder was swapped for a symbolic link between being seen and being listed.
    """
    first = restrict(list_folder(root, start, place), only_slug)
    yield first
    ahead = list(reversed(first.folders))
    while ahead:
        try:
            listing = list_folder(root, ahead.pop(), place)
        except SourceVanished:
            continue
        yield listing
        ahead.extend(reversed(listing.folders))


def restrict(listing: Listing, only_slug: str | None) -> Listing:
    """The listing of a root as far as it concerns the one project asked for.

    Raises:
        SourceVanished: That project is not there.
    """
    if only_slug is None or listing.stamp.relpath:
        return listing
    skips = tuple(skip for skip in listing.skips if skip.relpath == only_slug)
    folders = tuple(folder for folder in listing.folders if folder == only_slug)
    if not skips and not folders:
        raise SourceVanished("the project does not exist")
    return Listing(listing.stamp, skips=skips, folders=folders)
