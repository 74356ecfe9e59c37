"""Errors, interruption, progress, logs, threads, forks."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rthiss

ROWS = np.arange(10.0).reshape(-1, 1)


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (ValueError, "radius", {"radius": -1.0}),
        (ValueError, "radius", {"radius": float("nan")}),
        (TypeError, "radius", {"radius": "1"}),
        (TypeError, "radius", {"radius": True}),
        (TypeError, "radius", {"radius": 1j}),
        (ValueError, "not a double", {"radius": 2**53 + 1}),
        (ValueError, "not a double", {"radius": np.int64(2**53 + 1)}),
        (ValueError, "not a double", {"radius": np.longdouble(1) + np.finfo(np.longdouble).eps}),
        (ValueError, "metric.*cosine_similarity", {"metric": "manhattan"}),
        (ValueError, "engine.*known: cpu", {"engine": "quantum"}),
        (ValueError, "index", {"index": "quantum"}),
        (ValueError, "preset", {"preset": "fast"}),
        (ValueError, "nonfinite", {"nonfinite": "drop"}),
        (ValueError, "threads", {"threads": 0}),
        (TypeError, "threads", {"threads": 1.5}),
        (ValueError, "memory_limit", {"memory_limit": -1}),
        (TypeError, "unheard", {"unheard": 1}),
        (TypeError, "progress", {"progress": "yes"}),
        (MemoryError, "max_results", {"max_results": 3}),
        (NotImplementedError, "optix", {"index": "optix"}),
    ],
)
def test_errors(error, match, arguments):
    arguments = {"radius": 1.0, **arguments}
    if arguments.get("index") == "optix" and "optix" not in {name for name, *_ in rthiss._core.indexes()}:
        pytest.skip("this version does not know of optix")
    with pytest.raises(error, match=match):
        rthiss.self_join(ROWS, **arguments)


def test_bad_values_name_their_place():
    rows = np.zeros((5, 3))
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3.*column 1"):
        rthiss.self_join(rows, 1.0)
    assert rthiss.self_join(rows, 1.0, nonfinite="ignore").counts.tolist() == [3, 3, 3, 0, 3]
    with pytest.raises(ValueError, match="columns"):
        rthiss.radius_search(rows[:3], np.zeros((2, 4)), 1.0)


def test_memory_limit_names_the_figures():
    rows = np.zeros((4000, 2), np.uint8)
    with pytest.raises(MemoryError, match=r"15996000.*memory_limit"):
        rthiss.self_join(rows, 1.0, memory_limit=1 << 20)


def large_rows():
    """Minutes of work for the engine that is never fast."""
    return np.random.default_rng(5).random((60_000, 300))


SLOW = {"engine": "reference", "index": "exhaustive", "threads": 2}


def some_rows():
    """Seconds of work for it, of which it soon tells."""
    return np.random.default_rng(5).random((20_000, 32))


@pytest.fixture
def interruptible():
    """Shells start what runs in the background with SIGINT ignored, and Python keeps to that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_keyboard_interrupt_and_afterwards():
    index = rthiss.Index(large_rows(), **SLOW)
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        index.self_join(1.0)
    assert time.monotonic() - begin < 0.7 + 2
    assert index.search(np.zeros((1, 300)), 0.1).nnz == 0


@pytest.mark.usefixtures("interruptible")
def test_keyboard_interrupt_of_an_iteration():
    index = rthiss.Index(large_rows(), **SLOW)
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in index.iter_self_join(1.0):
            pass
    assert time.monotonic() - begin < 0.7 + 2


class Stop(Exception):
    pass


def test_progress_callback_may_stop_the_search():
    seen = []

    def callback(progress):
        seen.append(progress)
        if progress.work_done > 0:
            raise Stop

    index = rthiss.Index(some_rows(), **SLOW)
    with pytest.raises(Stop):
        index.self_join(1.0, progress=callback)
    assert isinstance(seen[-1], rthiss.Progress)
    assert seen[-1].work_total >= seen[-1].work_done > 0
    assert index.search(np.zeros((1, 32)), 0.1, progress=False).nnz == 0


def test_progress_bar(capsys):
    pytest.importorskip("tqdm")
    rthiss.self_join(np.random.default_rng(6).random((20_000, 10)), 0.3, progress=True)
    assert "candidates" in capsys.readouterr().err


def test_log(caplog):
    rows = np.random.default_rng(7).random((5000, 4))
    rthiss.self_join(rows, 0.1)
    assert not caplog.records
    with caplog.at_level(logging.INFO, logger="rthiss"):
        rthiss.self_join(rows, 0.1)
    assert any("expected" in record.getMessage() for record in caplog.records)


def test_other_threads_run_during_a_search():
    index = rthiss.Index(some_rows(), **SLOW)
    ticks = []

    def callback(_):
        if len(ticks) > 20:
            raise Stop

    ticking = threading.Event()

    def tick():
        while not ticking.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(Stop):
        index.self_join(1.0, progress=callback)
    ticking.set()
    thread.join()
    assert len(ticks) > 20


def test_one_index_in_many_threads():
    index = rthiss.Index(np.random.default_rng(8).random((3000, 4)))
    radii = [0.05, 0.1, 0.15, 0.2] * 3
    expected = {radius: index.self_join(radius, return_distance=True) for radius in radii}
    failures = []

    def search(radius, return_distance):
        near = index.self_join(radius, return_distance=return_distance)
        if not np.array_equal(near.indices, expected[radius].indices):
            failures.append(radius)
        if return_distance and not np.array_equal(near.distances, expected[radius].distances):
            failures.append(radius)

    threads = [threading.Thread(target=search, args=(radius, i % 2 == 0)) for i, radius in enumerate(radii)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def search_in_child(queue):
    try:
        queue.put(rthiss.self_join(ROWS, 1.0).nnz)
    except RuntimeError as error:
        queue.put(str(error))


def test_a_fork_after_use_is_refused():
    rthiss.self_join(ROWS, 1.0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=search_in_child, args=(queue,))
    child.start()
    assert "spawn" in queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert rthiss.self_join(ROWS, 1.0).nnz == 18


FORK_BEFORE_USE = """
import os
import numpy as np
import rthiss
rows = np.arange(10.0).reshape(-1, 1)
child = os.fork()
if child == 0:
    os._exit(0 if rthiss.self_join(rows, 1.0).nnz == 18 else 1)
assert os.waitpid(child, 0)[1] == 0
assert rthiss.self_join(rows, 1.0).nnz == 18
"""

EXIT_DURING_AN_ITERATION = """
import numpy as np
import rthiss
blocks = rthiss.Index(np.random.default_rng(0).random((20000, 3))).iter_self_join(0.1, memory_limit=1 << 20)
next(blocks)
"""


@pytest.mark.parametrize("script", [FORK_BEFORE_USE, EXIT_DURING_AN_ITERATION])
def test_processes_end_well(script):
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
