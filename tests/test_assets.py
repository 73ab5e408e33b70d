"""Pinned downloads, fetched by the real pip from a folder of wheels that the test makes: no network is needed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator_core.assets import ASSETS, Asset, cache_dir, fetch_asset, find_asset
from evaluator_core.errors import AssetUnavailable

CONTENT = bytes(range(256)) * 4000
ASSET = Asset(
    label="a small thing",
    package="tiny-asset",
    version="1.2",
    member="tiny_asset/thing.bin",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    download_size=len(CONTENT),
)


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel, as pip's only index, and an empty cache."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny_asset-1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(ASSET.member, CONTENT)
        wheel.writestr("tiny_asset-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-asset\nVersion: 1.2\n")
        wheel.writestr("tiny_asset-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tiny_asset-1.2.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("EVALUATOR_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def test_fetched_once_checked_and_found_again(wheels: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch_asset(ASSET, lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (ASSET.download_size, ASSET.download_size)
    assert find_asset(ASSET) == path
    (wheels / "tiny_asset-1.2-py3-none-any.whl").unlink()
    assert fetch_asset(ASSET) == path
    left = sorted(entry.name for entry in cache_dir().iterdir())
    assert left == sorted([path.name, f".{path.name}.lock"])


def test_missing_names_the_command_that_fetches() -> None:
    with pytest.raises(AssetUnavailable, match=r"python -m evaluator_core\.assets"):
        find_asset(ASSET)


def test_another_content_is_not_installed() -> None:
    with pytest.raises(AssetUnavailable, match="was not installed"):
        fetch_asset(replace(ASSET, sha256="0" * 64))
    assert not [entry for entry in cache_dir().iterdir() if entry.suffix == ".bin"]


def test_a_damaged_file_is_noticed_and_fetched_again() -> None:
    path = fetch_asset(ASSET)
    damaged = bytearray(CONTENT)
    damaged[5000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(AssetUnavailable, match="damaged"):
        find_asset(ASSET)
    assert fetch_asset(ASSET).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("asset", "message"),
    [
        (replace(ASSET, version="9.9"), r"pip could not download tiny-asset==9\.9"),
        (replace(ASSET, member="tiny_asset/other.bin"), r"does not hold tiny_asset/other\.bin"),
    ],
    ids=["no such version", "no such file"],
)
def test_what_cannot_be_had_is_said_plainly(asset: Asset, message: str) -> None:
    with pytest.raises(AssetUnavailable, match=message):
        fetch_asset(asset)


def test_a_cache_that_cannot_be_made_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("EVALUATOR_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(AssetUnavailable, match="EVALUATOR_CACHE_DIR"):
        fetch_asset(ASSET)


def test_what_a_killed_fetch_left_is_removed() -> None:
    abandoned = cache_dir() / f".fetch-{ASSET.sha256[:12]}-abc"
    abandoned.mkdir(parents=True)
    (abandoned / "half").write_bytes(b"x")
    fetch_asset(ASSET)
    assert not abandoned.exists()


def test_several_processes_at_once_all_get_it() -> None:
    code = "from tests.test_assets import ASSET; from evaluator_core.assets import fetch_asset; print(fetch_asset(ASSET))"
    root = Path(__file__).parents[1]
    running = [subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    paths = {process.communicate()[0].strip() for process in running}
    assert [process.returncode for process in running] == [0] * 4
    assert paths == {str(cache_dir() / ASSET.file_name)}
    assert find_asset(ASSET).read_bytes() == CONTENT


def test_every_asset_is_pinned_in_full() -> None:
    for asset in ASSETS:
        assert len(asset.sha256) == 64
        assert asset.version
        assert asset.size > 0
        assert asset.download_size > 0
