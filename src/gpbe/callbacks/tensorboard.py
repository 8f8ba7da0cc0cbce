"""What happens while an agent learns, for TensorBoard.

An event file is a row of records, each an `Event` of TensorFlow's protocol buffers between checksums. Scalars need so
little of that format that it is written here, and neither TensorFlow nor TensorBoard has to be installed to train.
"""

import struct
import time
from functools import cache
from pathlib import Path

from gpbe.callbacks.files import quantities
from gpbe.files.atomic import append, refusal
from gpbe.learn.control.hooks import Stretch


class TensorBoard:
    """Writes event files into a folder, a folder in it for each run; `tensorboard --logdir FOLDER` shows them.

    >>> import gpbe, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     board, small = TensorBoard(folder), {"steps": 200, "every": 100, "runs": 2, "hidden": (4,)}
    ...     _ = gpbe.train("CartPole-v1", "qrc", callbacks=board, **small)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['run 0', 'run 1']
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self._files: dict[str, Path] = {}

    def __call__(self, stretch: Stretch) -> None:
        for k, (setting, run) in enumerate(zip(stretch.setting, stretch.run, strict=True)):
            name = f"setting {setting}, run {run}" if stretch.settings else f"run {run}"
            known = quantities(stretch, k).items()
            events = [record(scalar(tag, value, stretch.steps, time.time())) for tag, value in known]
            append(self._path(name), b"".join(events))

    def _path(self, name: str) -> Path:
        """The file of a run: a new one for each training, as TensorBoard expects it."""
        if name not in self._files:
            folder = self.folder / name
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise refusal(folder, error) from None
            path = folder / f"events.out.tfevents.{time.time():.6f}.gpbe"
            append(path, record(b"\x09" + struct.pack("<d", time.time()) + _text(3, b"brain.Event:2")), anew=True)
            self._files[name] = path
        return self._files[name]


def scalar(tag: str, value: float, step: int, at: float) -> bytes:
    """An `Event`: wall_time = 1, step = 2, summary = 5 with a value of tag = 1 and simple_value = 2.

    >>> scalar("h", 0.5, 3, 0.0).hex()
    '09000000000000000010032a0a0a080a0168150000003f'
    """
    held = _text(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return b"\x09" + struct.pack("<d", at) + b"\x10" + _varint(step) + _text(5, _text(1, held))


def record(data: bytes) -> bytes:
    """A record: its length and data, each with a checksum after it."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def masked(data: bytes) -> int:
    """The checksum of records: CRC-32C, rotated by 15 bits and moved."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """The cyclic redundancy check with Castagnoli's polynomial, whose check value is known.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> list[int]:
    table = list(range(256))
    for _ in range(8):
        table = [n >> 1 ^ 0x82F63B78 * (n & 1) for n in table]
    return table


def _text(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(n: int) -> bytes:
    parts = []
    while n > 0x7F:
        parts.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*parts, n])
