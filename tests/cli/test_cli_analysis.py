"""knn, cluster, dedup, and the options of join that go beyond one radius: against loops over exact distances."""

import json
import math

import numpy as np
import pytest
import scipy.sparse

import oracle

ROWS = np.array(oracle.lattice(70, 2, 8), np.uint8)
SQUARES = np.array([[int(((x.astype(int) - y) ** 2).sum()) for y in ROWS.astype(int)] for x in ROWS])


def nearest(k):
    """Ids by (distance, id), a row itself left out."""
    return np.array([sorted((j for j in range(len(ROWS)) if j != i), key=lambda j: (SQUARES[i, j], j))[:k]
                     for i in range(len(ROWS))])


@pytest.mark.parametrize("threads", [1, 3])
def test_knn_in_every_format(rthiss, save, tmp_path, threads):
    data, k, right = save("rows.npy", ROWS), 5, nearest(5)
    distances = np.sqrt(np.take_along_axis(SQUARES, right, 1).astype(float))
    for name in ("ids.npy", "ids.ivecs", "graph.npz", "table.csv"):
        rthiss.run("knn", data, "-k", k, "--output", tmp_path / name, "--distances-output", tmp_path / "d.npy",
                   "--threads", threads)
    found = np.load(tmp_path / "ids.npy")
    assert found.dtype == np.int64 and (found == right).all()
    assert (np.load(tmp_path / "d.npy") == distances).all()
    assert (np.fromfile(tmp_path / "ids.ivecs", np.int32).reshape(-1, k + 1) == np.c_[np.full(70, k), right]).all()
    graph = scipy.sparse.load_npz(tmp_path / "graph.npz")
    assert (graph.indices.reshape(-1, k) == np.sort(right, axis=1)).all()
    assert (graph.data.reshape(-1, k) == np.sqrt(SQUARES[np.arange(70)[:, None], np.sort(right, axis=1)])).all()
    table = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1)
    assert (table[:, 1].reshape(-1, k) == right).all() and (table[:, 2].reshape(-1, k) == distances).all()


def test_knn_reports_and_refuses(rthiss, save, tmp_path):
    data = save("rows.npy", ROWS)
    said = json.loads(rthiss.run("knn", data, "-k", 3, "--json", "-").stdout)
    assert said["command"] == "knn" and said["k"] == 3 and said["radius"] is None and said["pairs"] == 210
    assert "70" in rthiss.refused("knn", data, "-k", 70, code=3)
    rthiss.refused("knn", data, "-k", 0, code=2)
    rthiss.refused("knn", data, code=2)
    rthiss.refused("knn", data, "-k", 2, "--output", tmp_path / "x.txt", code=2)
    rthiss.refused("knn", data, "-k", 2, "--format", "npy", code=2)
    rthiss.refused("knn", data, "-k", 60, "--memory-limit", 10000, code=5)


def test_chain_is_no_clique(rthiss, save, tmp_path):
    data = save("chain.npy", np.array([[0], [0.9], [1.8]]))
    done = rthiss.run("cluster", data, "--components", "--radius", 1, "--output", tmp_path / "labels.npy")
    assert "rows 0 and 2" in done.stdout
    assert np.load(tmp_path / "labels.npy").tolist() == [0, 0, 0]
    said = json.loads(rthiss.run("dedup", data, "--radius", 1, "--output", tmp_path / "keep.npy", "--groups",
                                 tmp_path / "groups.npy", "--json", "-").stdout)
    assert np.load(tmp_path / "keep.npy").tolist() == [0, 2]
    assert np.load(tmp_path / "groups.npy").tolist() == [0, 0, 0]
    assert said["chained"] == 1 and said["far_pair"] == {"first": 0, "second": 2, "distance": 1.8}


def test_dbscan_follows_its_definition(rthiss, save, tmp_path):
    near = SQUARES <= 1
    core = near.sum(axis=1) >= 3
    labels = np.full(70, -1)
    clusters = 0
    for start in range(70):
        if not core[start] or labels[start] >= 0:
            continue
        open_rows = [start]
        while open_rows:
            i = open_rows.pop()
            labels[i] = clusters
            open_rows += [j for j in range(70) if core[j] and near[i, j] and labels[j] < 0]
        clusters += 1
    for i in range(70):
        reached = [labels[j] for j in range(70) if core[j] and near[i, j]]
        if not core[i] and reached:
            labels[i] = min(reached)
    data = save("rows.npy", ROWS)
    said = json.loads(rthiss.run("cluster", data, "-r", 1, "-m", 3, "-o", tmp_path / "l.npy", "--json", "-").stdout)
    assert (np.load(tmp_path / "l.npy") == labels).all()
    assert said["clusters"] == clusters and said["core_points"] == int(core.sum())
    rthiss.run("cluster", data, "-r", 1, "-m", 3, "-o", tmp_path / "l.csv")
    lines = (tmp_path / "l.csv").read_text().splitlines()
    assert lines[0] == "row,cluster,kind" and len(lines) == 71
    for arguments in (["-r", 1], ["-r", 1, "-m", 3, "--components"], ["-m", 3], ["-r", 1, "-m", 0]):
        rthiss.refused("cluster", data, *arguments, code=2)


def test_cosine_dedup(rthiss, save, tmp_path):
    data = save("rows.npy", np.array([[1.0, 0], [0, 1], [3, 0], [1, 1]]))
    rthiss.run("dedup", data, "--cosine", 0.95, "--output", tmp_path / "keep.csv")
    assert (tmp_path / "keep.csv").read_text() == "row,group,keep\n0,0,1\n1,-1,1\n2,0,0\n3,-1,1\n"


def test_join_with_shell_radii_and_nearest(rthiss, save, tmp_path):
    data, out = save("rows.npy", ROWS), tmp_path / "pairs.npy"

    def pairs(*options):
        rthiss.run("join", data, "--output", out, *options)
        return [tuple(pair) for pair in np.load(out).tolist()]

    all_pairs = [(i, j) for i in range(70) for j in range(70) if i != j]
    assert pairs("-r", 2, "--min-radius", 1) == [(i, j) for i, j in all_pairs if 1 < SQUARES[i, j] <= 4]
    radii = [math.sqrt(i % 9) for i in range(70)]
    given = save("radii.npy", np.array(radii)[:, None])
    assert pairs("--radii", given) == [(i, j) for i, j in all_pairs if SQUARES[i, j] <= i % 9]
    first = nearest(2)
    assert pairs("-r", 2, "--max-neighbors", 2) == [(i, j) for i, j in all_pairs if j in first[i] and SQUARES[i, j] <= 4]
    said = json.loads(rthiss.run("count", data, "--radii", given, "--json", "-").stdout)
    assert said["radius"] is None and said["pairs"] == sum(SQUARES[i, j] <= i % 9 for i, j in all_pairs)
    rthiss.refused("join", data, "--radii", save("few.npy", np.ones((3, 1))), code=3)
    rthiss.refused("join", data, "--radii", save("wide.npy", np.ones((70, 2))), code=3)
    rthiss.refused("join", data, "-r", 1, "--radii", given, code=2)
    rthiss.refused("join", data, "-r", 1, "--max-neighbors", 0, code=2)
    rthiss.refused("join", data, "--radii", save("bad.npy", -np.ones((70, 1))), code=3)
