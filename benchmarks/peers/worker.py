"""Child process of run_peers.py: one task on one table, so that every peer has a process, threads and BLAS of its own.

    worker.py TASK.json      writes the answer to the path that the task names
"""

import json
import os
import resource
import sys

import numpy as np

import adapters
import exact
import machine


def run_peer(task):
    peer = adapters.all_peers(task["programs"], task["presets"])[task["peer"]]
    answer = {"version": peer.version()}
    points = np.load(task["points"])
    job = adapters.Job(points, task["points"], task["radius"], task["threads"], task["scratch"],
                       task["expected_pairs"], task["programs"])
    if task["keys"]:  # a probe for the time alone needs no rate and stores no pairs
        answer["blas_gflops"] = peer.blas_rate()
    measured, result = adapters.measure(peer, job, task["repeat_below"], task["repeats"])
    answer.update(measured)
    if task["keys"]:
        keys = peer.keys(result, job)
        answer["pairs"] = len(keys)
        np.save(task["keys"], keys)
    return answer


def run_oracle(task):
    keys = exact.exact_pairs(np.load(task["points"]), task["radius"])
    np.save(task["keys"], keys)
    return {"pairs": len(keys)}


def run_machine(task):
    answer = {"numpy_gflops": {name: machine.numpy_rate(name) for name in ("float32", "float64")}}
    answer["scipy_gflops"] = {name: machine.scipy_rate(name) for name in ("float32", "float64")}
    try:
        answer["faiss_sgemm_gflops"] = machine.faiss_rate()
    except ImportError:
        answer["faiss_sgemm_gflops"] = None
    answer["blas"] = machine.blas_libraries()
    return answer


TASKS = {"peer": run_peer, "oracle": run_oracle, "machine": run_machine}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    # A peer that wants more memory than there is gets an error of its own instead of taking the machine down.
    if not task.get("peer", "").startswith("rthiss"):
        limit = int(machine.memory_bytes() * 0.9)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        answer = TASKS[task["kind"]](task)
    except adapters.Unavailable as error:
        answer = {"unavailable": str(error)}
    except ImportError as error:
        answer = {"unavailable": f"{error}; benchmarks/peers/setup.sh installs the peers"}
    except MemoryError:
        answer = {"failed": "out of memory"}
    except (RuntimeError, ValueError, KeyError, OSError) as error:
        answer = {"failed": str(error) or type(error).__name__}
    partial = task["answer"] + ".part"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(partial, task["answer"])


if __name__ == "__main__":
    main()
