"""Exit codes, refusals, environment variables, hostile files, and the end by a signal or a closed pipe."""

import json
import os
import signal
import struct
import subprocess
import time

import numpy as np
import pytest


@pytest.fixture
def data(save):
    return save("rows.npy", np.arange(12, dtype=np.float32).reshape(4, 3))


def test_version_and_help(rthiss):
    assert rthiss.run("--version").stdout.startswith("rthiss 0.")
    overview = rthiss.run("--help").stdout
    for command in ("join", "count", "radius", "info", "generate", "convert", "verify"):
        assert command in overview
        assert "--" in rthiss.run(command, "--help").stdout


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["join"], ["bench"], ["knn"], ["cluster"], ["dedup"], ["merge"],
    ["join", "DATA"], ["join", "DATA", "--radius", "nan"], ["join", "DATA", "--radius", "-1"],
    ["join", "DATA", "--radius=-0.5"], ["join", "DATA", "--radius", "-inf"], ["join", "DATA", "--radius", "1x"],
    ["join", "DATA", "--radius", ""], ["join", "DATA", "--radius", "1e400"], ["join", "DATA", "--radius", "--1"],
    ["join", "DATA", "--radius", "1", "--radius", "2"], ["join", "DATA", "--radius", "1", "--selectivity", "2"],
    ["join", "DATA", "--radius", "1", "--cosine", "0.5"], ["join", "DATA", "--cosine", "1.5"],
    ["join", "DATA", "--cosine", "nan"], ["join", "DATA", "--selectivity", "0"], ["join", "DATA", "--selectivity", "4"],
    ["join", "DATA", "--radius", "1", "--engine", "abacus"], ["join", "DATA", "--radius", "1", "--index", "card"],
    ["join", "DATA", "--radius", "1", "--preset", "fast"], ["join", "DATA", "--radius", "1", "--projection", "tsne"],
    ["join", "DATA", "--radius", "1", "--preset", "paper", "--projection", "pca"],
    ["join", "DATA", "--radius", "1", "--metric", "manhattan"], ["join", "DATA", "--radius", "1", "--threads", "0"],
    ["join", "DATA", "--radius", "1", "--threads", "two"], ["join", "DATA", "--radius", "1", "--kd-tree-height", "32"],
    ["join", "DATA", "--radius", "1", "--kd-tree-height", "-1"],
    ["join", "DATA", "--radius", "1", "--memory-limit", "8 parsecs"],
    ["join", "DATA", "--radius", "1", "--memory-limit", "0"], ["join", "DATA", "--radius", "1", "--max-results", "0"],
    ["join", "DATA", "--radius", "1", "--max-results", "-5"], ["join", "DATA", "--radius", "1", "--seed", "-1"],
    ["join", "DATA", "--radius", "1", "--nonfinite", "zero"], ["join", "DATA", "--radius", "1", "--progress", "loud"],
    ["join", "DATA", "--radius", "1", "--queries", "DATA", "--include-self"],
    ["join", "DATA", "--radius", "1", "--format", "npz"], ["join", "DATA", "--radius", "1", "--output", "OUT/pairs.xyz"],
    ["join", "DATA", "--radius", "1", "--output", "OUT/p.npz", "--format", "xml"],
    ["join", "DATA", "--radius", "1", "--output", "-", "--format", "pairs-csv", "--json", "-"],
    ["join", "DATA", "--radius", "1", "--distances"],
    ["join", "DATA", "--radius", "1", "--distances", "--output", "OUT/pairs.npy"],
    ["join", "DATA", "--radius", "1", "--distances", "--output", "OUT/counts.npy", "--format", "counts"],
    ["join", "DATA", "DATA", "--radius", "1"], ["count", "DATA", "--radius", "1", "--distances"],
    ["count", "DATA", "--radius", "1", "--format", "npz"],
    ["radius", "DATA"], ["radius", "DATA", "--selectivity", "7"], ["verify", "DATA"],
    ["verify", "DATA", "DATA"], ["verify", "DATA", "DATA", "--radius", "1", "--all", "--sample", "3"],
    ["generate"], ["generate", "fractal"], ["generate", "uniform", "-n", "4", "-o", "OUT/u.npy"],
    ["generate", "uniform", "-n", "4", "-d", "2", "-o", "OUT/u.npy", "--rate", "3"],
    ["generate", "uniform", "-n", "4", "-d", "2", "-o", "OUT/u.npy", "--low", "3"],
    ["generate", "lattice", "-n", "4", "-d", "2", "-o", "OUT/u.npy", "--seed", "3"],
    ["convert", "DATA"], ["convert", "DATA", "OUT/rows.hdf"], ["convert", "DATA", "OUT/rows.npy", "--columns", "3"],
    ["convert", "DATA", "OUT/rows.npy", "--columns", "1-"], ["convert", "DATA", "OUT/rows.npy", "--format", "npz"]])
def test_bad_usage(rthiss, data, tmp_path, arguments):
    out = tmp_path / "out"
    out.mkdir()
    given = [argument.replace("DATA", str(data)).replace("OUT", str(out)) for argument in arguments]
    rthiss.refused(*given, code=2)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("option", [
    ["--devices", "0,1"], ["--resume", "folder"], ["--shard", "0/2"], ["--ablation", "none"], ["--k", "3"], ["--min-points", "3"]])
def test_options_of_later_stages_are_unknown(rthiss, data, option):
    rthiss.refused("join", data, "--radius", 1, *option, code=2)


def test_cuda_is_known_but_not_here(rthiss, data):
    assert "cuda" in rthiss.refused("join", data, "--radius", 1, "--engine", "cuda", code=4)
    assert "optix" in rthiss.refused("join", data, "--radius", 1, "--engine", "cpu", "--index", "optix", code=4)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("option", [
    ["--device", "0"], ["--device-memory-limit", "1GiB"], ["--shared-memory", "none"], ["--mask", "plain"]])
def test_options_of_a_device_are_refused_by_the_other_engines(rthiss, data, engine, option):
    assert "'cuda'" in rthiss.refused("join", data, "--radius", 1, "--engine", engine, *option, code=4)


@pytest.mark.parametrize("option", [
    ["--device", "x"], ["--device", "-1"], ["--device-memory-limit", "0"], ["--shared-memory", "all"],
    ["--mask", "bits"], ["--grouping", "rtree"], ["--primitive", "box"]])
def test_values_that_no_engine_takes(rthiss, data, option):
    rthiss.refused("join", data, "--radius", 1, *option, code=2)


def test_every_grouping_and_primitive_finds_the_same(rthiss, save):
    rows = save("rows.npy", np.random.default_rng(4).normal(size=(400, 5)).astype(np.float32))

    def checksum(*options):
        done = rthiss.run("join", rows, "--radius", 1.2, "--engine", "cpu", *options)
        return [line for line in done.stdout.splitlines() if "checksum" in line]

    right = checksum()
    assert right
    for preset in ("auto", "paper"):
        for grouping in ("kd-tree", "morton", "hilbert", "ball"):
            assert checksum("--preset", preset, "--grouping", grouping) == right
        assert checksum("--preset", preset, "--primitive", "point") == right


def test_environment_variables_stand_in_for_auto(rthiss, data):
    def report(*more, **environment):
        done = rthiss.run("join", data, "--radius", 1, "--json", "-", *more, environment=environment)
        return json.loads(done.stdout)

    assert report(RTHISS_ENGINE="reference")["engine"] == "reference"
    assert report(RTHISS_INDEX="exhaustive")["index"] == "exhaustive"
    assert report("--engine", "cpu", RTHISS_ENGINE="reference")["engine"] == "cpu"
    message = rthiss.refused("join", data, "--radius", 1, code=2, environment={"RTHISS_ENGINE": "abacus"})
    assert "RTHISS_ENGINE" in message
    rthiss.refused("join", data, "--radius", 1, code=4, environment={"RTHISS_SIMD": "MMX"})


def test_every_instruction_set_gives_the_same(rthiss, save):
    rows = save("rows.npy", np.random.default_rng(2).normal(size=(300, 20)).astype(np.float32))
    report = json.loads(rthiss.run("info", "--json", "-").stdout)
    checksums = set()
    for target in report["simd"]["supported"]:
        done = rthiss.run("join", rows, "--radius", 5.5, environment={"RTHISS_SIMD": target})
        checksums |= {line for line in done.stdout.splitlines() if "checksum" in line}
        forced = json.loads(rthiss.run("info", "--json", "-", environment={"RTHISS_SIMD": target}).stdout)
        assert forced["simd"]["active"] == target
    assert len(checksums) == 1


def test_info(rthiss, save):
    text = rthiss.run("info").stdout
    for name in ("cpu", "reference", "cuda", "bvh", "exhaustive", "embree", "optix"):
        assert name in text
    rows = np.array([[1, -2, 7], [3, np.nan, 7]], ">f4")
    file = json.loads(rthiss.run("info", save("rows.npy", rows), "--json", "-").stdout)["file"]
    assert (file["rows"], file["columns"], file["dtype"], file["byte_swapped"]) == (2, 3, "float32", True)
    assert file["nonfinite_rows"] == 1 and file["constant_columns"] == 2
    assert file["range"] == [-2, 7] and file["column_ranges"] == [[1, 3], [-2, -2], [7, 7]]


def npy_bytes(rows):
    import io
    buffer = io.BytesIO()
    np.save(buffer, rows)
    return buffer.getvalue()


GOOD = npy_bytes(np.arange(12, dtype=np.float32).reshape(4, 3))
HOSTILE = {
    "cut.npy": GOOD[:-1],
    "cut_header.npy": GOOD[:40],
    "magic_only.npy": GOOD[:6],
    "longer.npy": GOOD + b"x",
    "no_magic.npy": b"x" + GOOD[1:],
    "version.npy": GOOD[:6] + b"\x09" + GOOD[7:],
    "huge.npy": GOOD.replace(b"(4, 3)", b"(4, 3" + b"0" * 18 + b")", 1)[:-18],
    "overflow.npy": GOOD.replace(b"(4, 3), }" + b" " * 24, b"(4294967296, 4294967296, ), }    ", 1),
    "object.npy": GOOD.replace(b"<f4", b"|O8", 1),
    "complex.npy": npy_bytes(np.ones((2, 2), np.complex64)),
    "vector.npy": npy_bytes(np.ones(4)),
    "cube.npy": npy_bytes(np.ones((2, 2, 2))),
    "no_columns.npy": npy_bytes(np.ones((2, 0))),
    "code.npy": GOOD.replace(b"False", b"exit()", 1)[:-1],
    "big.npy": npy_bytes(np.array([[2**53 + 1], [0]], np.int64)),
    "rows.fvecs": struct.pack("<i2f", 2, 1, 2) + struct.pack("<i3f", 3, 1, 2, 3),
    "cut.fvecs": struct.pack("<i2f", 2, 1, 2)[:-1],
    "negative.fvecs": struct.pack("<i2f", -2, 1, 2),
    "ragged.csv": b"1,2\n3,4,5\n",
    "words.csv": b"1,2\n3,four\n",
    "cut.csv.gz": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33",
    "cut.idx": b"\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00",
    "empty.npy": b"",
    "noise.npy": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(rthiss, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    for command in (["join", path, "--radius", 1], ["radius", path, "--selectivity", 1]):
        message = rthiss.refused(*command, code=3)
        assert any(place in message for place in ("byte", "line", "row", name)), message


def test_files_that_are_not_there(rthiss, data, tmp_path):
    assert "nowhere.npy" in rthiss.refused("join", tmp_path / "nowhere.npy", "--radius", 1, code=6)
    assert str(tmp_path) in rthiss.refused("join", tmp_path, "--radius", 1, code=6)
    missing = tmp_path / "no" / "folder.npz"
    assert "folder.npz" in rthiss.refused("join", data, "--radius", 1, "--output", missing, code=6)
    rthiss.run("join", data, "--radius", 1, "--json", tmp_path / "no" / "report.json", code=6)


def test_queries_of_another_width(rthiss, data, save):
    message = rthiss.refused("join", data, "--radius", 1, "--queries", save("wide.npy", np.ones((2, 5))), code=3)
    assert "5 columns" in message and "has 3" in message


def test_memory_limit(rthiss, save):
    rows = save("rows.npy", np.zeros((4000, 1)))
    message = rthiss.refused("join", rows, "--radius", 0, "--output", rows.parent / "lists.npz", "--memory-limit", "10KB",
                             "--max-results", 1000, code=5)
    assert "15996000" in message
    assert not (rows.parent / "lists.npz").exists()


def test_closed_pipe_is_quiet(rthiss, save, tmp_path):
    rows = save("rows.npy", np.zeros((1500, 1)))
    command = " ".join(rthiss.command("join", rows, "--radius", 0, "--output", "-", "--format", "pairs-csv"))
    done = subprocess.run(["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"], capture_output=True,
                          text=True, timeout=60, check=True)
    assert done.stdout == "query,neighbor\n141\n"
    assert done.stderr == ""


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["join", "verify"])
def test_signals_leave_no_file(rthiss, save, tmp_path, number, code, command):
    rows = save("rows.npy", np.random.default_rng(0).uniform(size=(60000, 64)).astype(np.float32))
    folder = tmp_path / "out"
    folder.mkdir()
    if command == "join":
        arguments = ["join", rows, "--radius", 2, "--engine", "reference", "--output", folder / "lists.npz"]
    else:
        counts = tmp_path / "counts.npy"
        np.save(counts, np.zeros(60000, np.uint64))
        arguments = ["verify", rows, counts, "--radius", 2, "--all"]
    process = subprocess.Popen(rthiss.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(number)
    begin = time.monotonic()
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == code
    assert time.monotonic() - begin < 4  # 2 s, and some room for a machine that does other things
    assert stdout == ""
    assert "Traceback" not in stderr and list(folder.iterdir()) == []


def test_a_second_signal_ends_at_once(rthiss, save, tmp_path):
    rows = save("rows.npy", np.random.default_rng(0).uniform(size=(60000, 64)).astype(np.float32))
    folder = tmp_path / "out"
    folder.mkdir()
    process = subprocess.Popen(
        rthiss.command("join", rows, "--radius", 2, "--engine", "reference", "--output", folder / "lists.npz"),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) in (130, 143)
    assert list(folder.iterdir()) == []


def test_an_output_that_was_there_stays_when_the_work_fails(rthiss, save, tmp_path):
    rows, output = save("rows.npy", np.zeros((100, 2))), tmp_path / "pairs.npy"
    output.write_text("precious")
    rthiss.refused("join", rows, "--radius", 0, "--max-results", 3, "--output", output, code=5)
    assert output.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.npy", "rows.npy"]


def test_progress(rthiss, data):
    assert rthiss.run("join", data, "--radius", 1).stderr == ""
    assert rthiss.run("join", data, "--radius", 1, "--progress", "off").stderr == ""
    assert "expected" in rthiss.run("join", data, "--radius", 1, "--progress", "on").stderr


def test_progress_line_on_a_terminal(rthiss, save):
    rows = save("rows.npy", np.random.default_rng(0).uniform(size=(8000, 16)).astype(np.float32))
    leader, follower = os.openpty()
    process = subprocess.Popen(rthiss.command("count", rows, "--radius", 0.9, "--engine", "reference"),
                               stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    text = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(leader)
    assert process.wait(timeout=60) == 0
    assert b"pairs" in text and b"\r" in text
    assert text.rstrip(b"\r\n ") == text.rstrip() or text.endswith(b"\r")  # the line is cleared at the end
