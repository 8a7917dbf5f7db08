"""Write the bundled sample, or with --check say whether it is what this program would write."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.sample.story import story  # noqa: E402 - the repository must be importable first

SAMPLE = ROOT / "src" / "stemma" / "sample"


def differences(folder: Path) -> list[str]:
    """Files that are missing, superfluous or different, by path below the sample."""
    wanted = story()
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in (folder / "projects").rglob("*")
        if path.is_file()
    }
    return sorted(name for name in wanted | found if wanted.get(name) != found.get(name))


def write(folder: Path) -> None:
    """Make the folder hold the story and nothing else below `projects`."""
    wanted = story()
    for name in differences(folder):
        path = folder / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
        else:
            path.unlink()


def main() -> int:
    """Run the command."""
    if sys.argv[1:] == ["--check"]:
        names = differences(SAMPLE)
        print("\n".join(f"differs: {name}" for name in names) or "the sample is as written here")
        return bool(names)
    write(SAMPLE)
    print(f"{SAMPLE}: {sum(map(len, story().values())):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
