"""torch.save and torch.load: exchange with PyTorch, atomic writes, hostile and broken files."""

from __future__ import annotations

import io
import mmap
import os
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from torch_golden import GOLDEN

import torch

sys.path.insert(0, str(GOLDEN))
from make_golden import COMPLEX_HALF, EXCHANGE, exchange_object, same


@pytest.mark.parametrize("weights_only", [True, False])
def test_reads_what_pytorch_wrote(weights_only: bool) -> None:
    answer = torch.load(EXCHANGE, weights_only=weights_only)
    expected = exchange_object()
    assert list(answer) == list(expected)
    assert [key for key in expected if not same(answer[key], expected[key])] == []
    assert answer["row"].data_ptr() == answer["base"][1].data_ptr()
    assert answer["transposed"].stride() == (1, 4)
    assert answer["requires_grad"].requires_grad
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    model.load_state_dict(answer["state_dict"])


def test_a_dtype_that_is_missing_here() -> None:
    with pytest.raises(NotImplementedError, match=r"holds ComplexHalf tensors.*save them again"):
        torch.load(COMPLEX_HALF)


def test_round_trip_of_paths_and_buffers(tmp_path: Path) -> None:
    expected = exchange_object()
    path, buffer = tmp_path / "x.pt", io.BytesIO()
    torch.save(expected, path)
    torch.save(expected, str(path))
    torch.save(expected, buffer)
    buffer.seek(0)
    for source in (path, str(path), buffer):
        answer = torch.load(source)
        assert [key for key in expected if not same(answer[key], expected[key])] == []
        assert answer["row"].data_ptr() == answer["base"][1].data_ptr()
    assert [path.name for path in tmp_path.iterdir()] == ["x.pt"]


def test_layout_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    torch.save({"a": torch.arange(3.0), "b": torch.arange(1000)}, path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert names == [f"weights/{n}" for n in ("data.pkl", "byteorder", "data/0", "data/1", "version")]
        assert archive.read("weights/data/0") == struct.pack("<3f", 0, 1, 2)
        assert archive.read("weights/byteorder") == sys.byteorder.encode()
        assert archive.read("weights/version") == b"3\n"
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            header = path.read_bytes()[info.header_offset : info.header_offset + 30]
            name_length, extra_length = struct.unpack("<HH", header[26:30])
            assert (info.header_offset + 30 + name_length + extra_length) % 64 == 0


def test_same_object_gives_same_bytes() -> None:
    one, other = io.BytesIO(), io.BytesIO()
    torch.save({"a": torch.ones(3)}, one)
    torch.save({"a": torch.ones(3)}, other)
    assert one.getvalue() == other.getvalue()


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save([1], path)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        torch.save([lambda: None], path)
    assert torch.load(path) == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["x.pt"]
    with pytest.raises(RuntimeError, match="Parent directory"):
        torch.save([1], tmp_path / "missing" / "x.pt")


def test_modules_and_optimizers(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt")
    twin = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(), torch.nn.Linear(4, 2))
    twin.load_state_dict(state["model"])
    other = torch.optim.Adam(twin.parameters())
    other.load_state_dict(state["optimizer"])
    for one in (model, twin):
        one.eval()
    x = torch.randn(5, 3)
    assert torch.equal(model(x), twin(x))
    for which in (optimizer, other):
        which.step()
    for parameter, parameter2 in zip(model.parameters(), twin.parameters(), strict=True):
        assert parameter2.grad is None or torch.equal(parameter, parameter2)
    torch.save(model, tmp_path / "model.pt")
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.container\.Sequential"):
        torch.load(tmp_path / "model.pt")
    assert torch.equal(torch.load(tmp_path / "model.pt", weights_only=False)(x), model(x))


def test_map_location(tmp_path: Path) -> None:
    torch.save(torch.ones(2), tmp_path / "x.pt")
    calls: list[str] = []

    def keep(storage: Any, location: str) -> Any:
        calls.append(location)
        return storage

    for where in ("cpu", torch.device("cpu"), {"cpu": "cpu"}, keep):
        assert torch.load(tmp_path / "x.pt", map_location=where).tolist() == [1, 1]
    assert calls == ["cpu"]
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="map_location="):
            torch.load(tmp_path / "x.pt", map_location="cuda")


# ---------------------------------------------------------------------------------------------------- hostile files


def _archive(pickled: bytes, records: dict[str, bytes] | None = None, compress: bool = False) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        archive.writestr("x/data.pkl", pickled)
        for name, data in (records or {}).items():
            archive.writestr(f"x/{name}", data)
    buffer.seek(0)
    return buffer


class _Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/should-never-exist",)


def test_code_is_never_run() -> None:
    buffer = io.BytesIO()
    torch.save({"x": _Evil()}, buffer)
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"posix\.system.*not allowed.*add_safe_globals"):
        torch.load(buffer)
    for name in (b"builtins\neval", b"builtins\ngetattr", b"torch\nload", b"torch._utils\ncheck_extent"):
        with pytest.raises(pickle.UnpicklingError, match="not allowed"):
            torch.load(_archive(b"\x80\x02c" + name + b"\nX\x01\x00\x00\x001\x85R."))


HOSTILE = {
    "empty pickle": b"",
    "truncated": b"\x80\x02}q\x00X\xff\xff",
    "no stop": b"\x80\x02}",
    "stack underflow": b"\x80\x02R.",
    "no mark": b"\x80\x02u.",
    "unknown memo": b"\x80\x02h\x05.",
    "protocol": b"\x80\x09N.",
    "huge text": b"\x80\x02X\xff\xff\xff\x7fabc.",
    "instance": b"(ios\nsystem\n.",
    "extension": b"\x80\x02\x82\x01.",
    "class state": b"\x80\x02ctorch\nFloatStorage\n}b.",
    "function state": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b.",
    "bytearray of length": b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    "append to a dict": b"\x80\x02}K\x01a.",
    "two values": b"\x80\x02K\x01K\x02.",
    "persistent id": b"\x80\x02K\x01Q.",
    "unhashable key": b"\x80\x02}]K\x01s.",
    "call of a storage": b"\x80\x02ctorch\nFloatStorage\n)R.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_malformed_pickles(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError):
        torch.load(_archive(HOSTILE[name]))


def _tensor_pickle(numel: int, offset: Any, size: Any, stride: Any, key: str = "0") -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, value: Any) -> Any:
            return ("storage", torch.FloatStorage, key, "cpu", numel) if value == "STORAGE" else None

    class Reduced:
        def __reduce__(self) -> Any:
            rebuild = torch._utils._rebuild_tensor_v2
            return rebuild, ("STORAGE", offset, size, stride, False, OrderedDict())

    buffer = io.BytesIO()
    Pickler(buffer, 2).dump(Reduced())
    return buffer.getvalue()


def test_tensors_must_fit_their_storage() -> None:
    data = {"data/0": bytes(16)}
    assert torch.load(_archive(_tensor_pickle(4, 0, (4,), (1,)), data)).tolist() == [0, 0, 0, 0]
    for arguments in (
        (4, 1, (4,), (1,)),
        (4, 0, (2, 2), (4, 1)),
        (4, -1, (1,), (1,)),
        (4, 0, (4,), (-1,)),
        (4, 0, (4,), ()),
    ):
        with pytest.raises(pickle.UnpicklingError, match="malformed"):
            torch.load(_archive(_tensor_pickle(*arguments), data))
    with pytest.raises(RuntimeError, match="should have 400"):
        torch.load(_archive(_tensor_pickle(400, 0, (4,), (1,)), data))
    with pytest.raises(RuntimeError, match="is missing"):
        torch.load(_archive(_tensor_pickle(4, 0, (4,), (1,), "7"), data))
    with pytest.raises(pickle.UnpicklingError, match="storage key"):
        torch.load(_archive(_tensor_pickle(4, 0, (4,), (1,), "../data.pkl"), data))
    with pytest.raises(RuntimeError, match="compressed"):
        torch.load(_archive(_tensor_pickle(4, 0, (4,), (1,)), data, compress=True))


def test_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save({"a": torch.arange(1000.0)}, path)
    whole = path.read_bytes()
    for length in (3, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"x\.pt"):
            torch.load(path)
    flipped = bytearray(whole)
    flipped[whole.index(struct.pack("<f", 500.0))] ^= 0xFF
    path.write_bytes(flipped)
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(path)
    path.write_bytes(b"")
    with pytest.raises(EOFError, match="empty"):
        torch.load(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(RuntimeError, match=r"a pickle, but not of torch\.save"):
        torch.load(path, weights_only=False)
    path.write_bytes(b"hello world")
    with pytest.raises(pickle.UnpicklingError, match="not a file of"):
        torch.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"")
    with pytest.raises(RuntimeError, match="it has no NAME"):
        torch.load(path)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")
    with pytest.raises(ValueError, match="must be a file path"):
        torch.load(io.BytesIO(whole), mmap=True)


def test_safe_globals() -> None:
    from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals

    buffer = io.BytesIO()
    torch.save(Path("a"), buffer)
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"pathlib"):
        torch.load(buffer)
    add_safe_globals([type(Path("a"))])
    try:
        assert get_safe_globals() == [type(Path("a"))]
        buffer.seek(0)
        assert torch.load(buffer) == Path("a")
    finally:
        clear_safe_globals()
    assert get_safe_globals() == []


def test_every_cut_and_every_changed_byte_of_the_directory_is_told() -> None:
    buffer = io.BytesIO()
    torch.save({"x": torch.arange(5.0), "y": [torch.zeros(2, dtype=torch.int64)]}, buffer)
    whole = buffer.getvalue()
    directory = whole.index(b"PK\x01\x02")
    broken = [whole[:length] for length in range(4, len(whole))]
    for position in range(directory, len(whole)):
        for value in (0x00, 0x7F, 0xFF):
            broken.append(whole[:position] + bytes([value]) + whole[position + 1 :])
    refusals = []
    for contents in broken:
        try:
            torch.load(io.BytesIO(contents))
        except (RuntimeError, pickle.UnpicklingError) as error:
            refusals.append(str(error))
    assert len(refusals) > 1000
    assert not [text for text in refusals if "negative seek" in text]


def test_storages_of_files_and_parts(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    storage = torch.UntypedStorage.from_file(str(path), shared=False, nbytes=8)
    assert storage[2:5].tolist() == [2, 3, 4]
    assert storage[-1] == 7
    assert storage.untyped().nbytes() == 8
    part = storage[4:]
    part.fill_(9)
    assert storage.tolist() == [0, 1, 2, 3, 9, 9, 9, 9]
    assert path.read_bytes() == bytes(range(8))
    with pytest.raises(RuntimeError, match="step of 2"):
        storage[::2]
    shared = torch.UntypedStorage.from_file(str(path), shared=True, nbytes=8)
    shared.fill_(1)
    del shared
    assert path.read_bytes() == bytes([1] * 8)
    torch.save(torch.arange(3), tmp_path / "file.pt")
    reader = torch.PyTorchFileReader(tmp_path / "file.pt")
    assert reader.has_record("data.pkl")
    assert reader.get_storage_from_record("data/0", 3, torch.int64).tolist() == [0, 1, 2]


LEGACY = GOLDEN / "legacy.pt"  # PyTorch wrote it, with _use_new_zipfile_serialization=False


def _check_legacy(answer: dict[str, Any]) -> None:
    assert answer["base"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert answer["row"].data_ptr() == answer["base"][1].data_ptr()
    assert answer["half"].dtype is torch.float16
    assert answer["complex"].tolist() == [1 + 2j]
    assert isinstance(answer["parameter"], torch.nn.Parameter)
    assert list(answer["state"]) == ["weight", "bias"]


@pytest.mark.parametrize("weights_only", [True, False])
def test_the_format_of_pytorch_1_5(tmp_path: Path, weights_only: bool) -> None:
    answer = torch.load(LEGACY, weights_only=weights_only)
    _check_legacy(answer)
    path = tmp_path / "again.pt"
    torch.save(answer, path, _use_new_zipfile_serialization=False)
    assert path.read_bytes()[:2] == b"\x80\x02"
    _check_legacy(torch.load(path, weights_only=weights_only))
    model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    torch.save(model, path, _use_new_zipfile_serialization=False)
    assert torch.equal(torch.load(path, weights_only=False)[0].weight, model[0].weight)
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.container\.Sequential.*not allowed"):
        torch.load(path)
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        torch.load(path, mmap=True)


def test_every_cut_of_an_old_file_is_told() -> None:
    whole = LEGACY.read_bytes()
    for length in range(2, len(whole)):
        for weights_only in (True, False):
            with pytest.raises((RuntimeError, pickle.UnpicklingError)):
                torch.load(io.BytesIO(whole[:length]), weights_only=weights_only)


def test_elements_stay_in_a_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save({"a": torch.arange(5.0), "b": torch.ones(2, 2, dtype=torch.bfloat16), "c": torch.empty(0)}, path)
    whole = path.read_bytes()
    mapped = torch.load(path, mmap=True)
    assert mapped["a"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert mapped["b"].float().sum() == 4
    mapped["a"].fill_(7)  # a private copy of the page
    assert path.read_bytes() == whole
    assert torch.load(path, mmap=True)["a"][1] == 1
    with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True)["a"][1] = 8
    assert torch.load(path, mmap=True)["a"][1] == 8
    assert torch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE


def test_variables_force_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    torch.save(Path("a"), path)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert torch.load(path) == Path("a")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "yes")
    with pytest.raises(RuntimeError, match="both were set"):
        torch.load(path)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path, weights_only=False)


def test_what_a_file_would_call(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save({"model": torch.nn.Linear(1, 1), "when": OrderedDict(a=torch.ones(1))}, path)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(path) == ["torch.nn.modules.linear.Linear"]
    with torch.serialization.safe_globals([torch.nn.Linear]):
        assert torch.serialization.get_unsafe_globals_in_checkpoint(path) == []
        assert isinstance(torch.load(path)["model"], torch.nn.Linear)
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.modules\.linear\.Linear"):
        torch.load(path)


def test_files_without_elements(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    with torch.serialization.skip_data():
        torch.save(torch.ones(3), path)
    assert torch.load(path).tolist() == [0.0] * 3


def test_a_program_brings_its_own_pickler() -> None:
    class Loud(pickle.Pickler):
        pass

    module: Any = type(sys)("loud")
    module.Pickler, module.Unpickler = Loud, pickle.Unpickler
    buffer = io.BytesIO()
    torch.save([torch.ones(2)], buffer, pickle_module=module)
    buffer.seek(0)
    assert torch.load(buffer, pickle_module=module, weights_only=False)[0].tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="has no Pickler"):
        torch.save(1, buffer, pickle_module=io)


def test_devices_of_programs() -> None:
    from torch import _load_options

    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
    buffer.seek(0)
    torch.serialization.register_package(0, lambda storage: None, lambda storage, where: None)
    try:
        assert torch.load(buffer, map_location="cpu").tolist() == [1.0, 1.0]
    finally:
        _load_options._packages.clear()
