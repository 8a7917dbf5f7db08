"""Invented tool calls: arguments, result content and the structured result beside it."""

# the chances of a mix are plain numbers
# ruff: noqa: PLR2004

import random
from collections.abc import Callable
from typing import NamedTuple

from bench.corpus_dialects import Level
from bench.corpus_text import Filler, Sizes, filler

IMAGE_MAX_BYTES = 900_000
REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (for example, a file edit was "
    "not written). STOP what you are doing and wait for the user to say how to go on."
)


class Call(NamedTuple):
    """One tool call and its outcome; all but ``name`` and ``error`` are JSON texts.

    Attributes:
        arguments: The call's input object.
        content: What the model gets back.
        result: ``toolUseResult``, the client's own structured copy.
    """

    name: str
    arguments: str
    content: str
    result: str
    error: bool = False


class Toolbox:
    """Draws tool calls for one session."""

    def __init__(
        self, rng: random.Random, *, level: Level, cwd: str, text_scale: float, line_limit: int
    ) -> None:
        """Prepare to draw.

        Args:
            rng: Source of every choice.
            level: Version whose result shapes are wanted.
            cwd: Folder that paths are under.
            text_scale: Factor on the size of results.
            line_limit: No result makes a line longer than about this.
        """
        self.rng = rng
        self._level = level
        self._cwd = cwd
        self.scale = text_scale
        self._limit = line_limit
        self._filler: Filler = filler()

    def draw(self) -> Call:
        """Return one call: rarely an image, sometimes an error."""
        rng = self.rng
        chance = rng.random()
        if chance < 0.0006 and self._limit > 600_000:
            return self._image()
        if chance < 0.045:
            return self.failed(rng.choice(ERRORS))
        make = TOOLS[int(rng.random() * len(TOOLS))]
        return make(self)

    def failed(self, message: str) -> Call:
        """Return a shell call that ended with ``message``."""
        call = self.bash()
        return call._replace(content=f'"{message}"', result=f'"Error: {message}"', error=True)

    def rejected(self) -> Call:
        """Return a call that the user refused."""
        return self.edit()._replace(
            content=f'"{REJECTION}"', result='"User rejected tool use"', error=True
        )

    def size(self) -> int:
        """Return how much text a result holds."""
        return min(int(RESULT_SIZES.draw(self.rng) * self.scale), self._limit // 3)

    def bash(self) -> Call:
        """Return a shell command and its output."""
        fill, rng = self._filler, self.rng
        text = fill.log.take(rng, self.size())
        command = f'pytest -q {fill.path(rng)} -k \\"{fill.phrase(rng)}\\" 2>&1 | tail -n {len(text) % 90}'
        silent = ',"noOutputExpected":false' if self._level >= Level.V2_1_112 else ""
        return Call(
            "Bash",
            f'{{"command":"{command}","description":"{fill.phrase(rng)}"}}',
            f'"{text}"',
            f'{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false{silent}}}',
        )

    def read(self) -> Call:
        """Return a file that was read."""
        fill, rng = self._filler, self.rng
        path = f"{self._cwd}/{fill.path(rng)}"
        text = fill.code.take(rng, self.size())
        lines = text.count("\\n")
        return Call(
            "Read",
            f'{{"file_path":"{path}"}}',
            f'"     1\\t{text}"',
            f'{{"type":"text","file":{{"filePath":"{path}","content":"{text}","numLines":{lines},"startLine":1,'
            f'"totalLines":{lines}}}}}',
        )

    def edit(self) -> Call:
        """Return an edit with the file before it and its patch."""
        fill, rng = self._filler, self.rng
        path = f"{self._cwd}/{fill.path(rng)}"
        old, new = fill.code.take(rng, 120), fill.code.take(rng, 200)
        original = fill.code.take(
            rng, min(int(FILE_SIZES.draw(rng) * self.scale), self._limit // 3)
        )
        patch = (
            f'{{"oldStart":3,"oldLines":1,"newStart":3,"newLines":1,"lines":["-{old}","+{new}"]}}'
        )
        return Call(
            "Edit",
            f'{{"file_path":"{path}","old_string":"{old}","new_string":"{new}"}}',
            f'"The file {path} has been updated."',
            f'{{"filePath":"{path}","oldString":"{old}","newString":"{new}","originalFile":"{original}",'
            f'"structuredPatch":[{patch}],"userModified":false,"replaceAll":false}}',
        )

    def write(self) -> Call:
        """Return a new file."""
        fill, rng = self._filler, self.rng
        path = f"{self._cwd}/{fill.path(rng)}"
        text = fill.code.take(rng, self.size())
        return Call(
            "Write",
            f'{{"file_path":"{path}","content":"{text}"}}',
            f'"File created successfully at: {path}"',
            f'{{"type":"create","filePath":"{path}","content":"{text}","structuredPatch":[],"originalFile":null}}',
        )

    def grep(self) -> Call:
        """Return a search."""
        fill, rng = self._filler, self.rng
        text = fill.log.take(rng, self.size() // 2)
        return Call(
            "Grep",
            f'{{"pattern":"{fill.phrase(rng)}","path":"{self._cwd}","output_mode":"content"}}',
            f'"{text}"',
            f'{{"mode":"content","numFiles":0,"filenames":[],"content":"{text}","numLines":9}}',
        )

    def todos(self) -> Call:
        """Return a rewritten list of steps."""
        fill, rng = self._filler, self.rng
        steps = ",".join(
            f'{{"content":"{fill.phrase(rng)}","status":"{state}","activeForm":"{fill.phrase(rng)}"}}'
            for state in ("completed", "in_progress", "pending")
        )
        return Call(
            "TodoWrite",
            f'{{"todos":[{steps}]}}',
            '"Todos have been modified successfully."',
            f'{{"oldTodos":[{steps}],"newTodos":[{steps}]}}',
        )

    def _image(self) -> Call:
        rng = self.rng
        path = f"{self._cwd}/shots/{self._filler.phrase(rng)}.png"
        size = min(int(IMAGE_MAX_BYTES * (0.4 + 0.6 * rng.random())), self._limit // 3)
        data = self._filler.base64(rng, size)
        return Call(
            "Read",
            f'{{"file_path":"{path}"}}',
            f'[{{"type":"image","source":{{"type":"base64","data":"{data}","media_type":"image/png"}}}}]',
            f'{{"type":"image","file":{{"base64":"{data}","type":"image/png","originalSize":{size * 3 // 4}}}}}',
        )


RESULT_SIZES = Sizes(median=330, p90=8_600, low=20, high=50_000)
FILE_SIZES = Sizes(median=8_500, p90=26_000, low=300, high=50_000)
ERRORS = (
    "Exit code 1",
    "File does not exist.",
    "File has not been read yet. Read it first before writing to it.",
    "String to replace not found in file.",
    "Sibling tool call errored",
)
TOOLS: tuple[Callable[[Toolbox], Call], ...] = (
    *[Toolbox.bash] * 9,
    *[Toolbox.read] * 5,
    *[Toolbox.edit] * 3,
    *[Toolbox.grep] * 2,
    Toolbox.write,
    Toolbox.todos,
)
