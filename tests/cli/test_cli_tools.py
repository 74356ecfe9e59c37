"""radius, generate, convert and verify."""

import hashlib
import json

import numpy as np
import pytest
import scipy.sparse

import oracle


def load_json(done):
    return json.loads(done.stdout)


# --- radius


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_radius(rthiss, save, dtype):
    rows = (np.random.default_rng(4).uniform(size=(400, 5)) * 200).astype(dtype)
    report = load_json(rthiss.run("radius", save("rows.npy", rows), "--selectivity", 12, "--json", "-"))
    distances = np.sqrt(((rows[:, None].astype(float) - rows[None]) ** 2).sum(-1))
    mean = lambda radius: (distances <= radius).sum() / 400 - 1
    assert mean(report["radius"] * 0.99) <= 12 <= mean(report["radius"] * 1.01)
    assert report["interval"][0] <= report["radius"] <= report["interval"][1]
    assert report["sample"]["queries"] == 400  # all: fewer than the sample


def test_radius_with_cosine_distance(rthiss, save):
    rows = np.random.default_rng(4).normal(size=(300, 5))
    report = load_json(rthiss.run("radius", save("rows.npy", rows), "-s", 9, "--metric", "cosine", "--json", "-"))
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    distances = 1 - unit @ unit.T
    mean = lambda radius: (distances <= radius).sum() / 300 - 1
    assert mean(report["radius"] * 0.99) <= 9 <= mean(report["radius"] * 1.01)


def test_radius_curve_and_seed(rthiss, save):
    data = save("rows.npy", np.random.default_rng(4).normal(size=(3000, 3)).astype("f4"))
    one = load_json(rthiss.run("radius", data, "-s", 10, "--curve", "--json", "-"))
    assert [point["k"] for point in one["curve"]] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
    assert all(a["radius"] < b["radius"] for a, b in zip(one["curve"], one["curve"][1:]))
    assert [point["radius"] for point in one["curve"] if point["k"] == 10] == [one["radius"]]
    again = load_json(rthiss.run("radius", data, "-s", 10, "--json", "-", "--threads", 1))
    other = load_json(rthiss.run("radius", data, "-s", 10, "--json", "-", "--seed", 2))
    assert again["radius"] == one["radius"] != other["radius"]
    assert "k-th neighbour" in rthiss.run("radius", data, "-s", 10, "--curve").stdout


# --- generate


@pytest.mark.parametrize("family", ["uniform", "exponential", "clusters", "embedding", "lattice", "binary"])
def test_generate_is_repeatable(rthiss, tmp_path, family):
    one, two = tmp_path / "one.npy", tmp_path / "two.npy"
    report = load_json(rthiss.run("generate", family, "-n", 100, "-d", 6, "-o", one, "--json", "-"))
    rthiss.run("generate", family, "-n", 100, "-d", 6, "-o", two, "--threads", 1)
    assert one.read_bytes() == two.read_bytes()
    rows = np.load(one)
    assert rows.shape == (100, 6) and rows.dtype == np.float32
    assert report["sha256"] == hashlib.sha256(rows.tobytes()).hexdigest()


def test_generate_lattice_is_the_known_one(rthiss, tmp_path):
    path = tmp_path / "lattice.npy"
    rthiss.run("generate", "lattice", "-n", 257, "-d", 37, "--levels", 256, "-o", path, "--dtype", "float64")
    rows = np.load(path)
    assert rows.dtype == np.float64
    assert rows.sum() == 1205413 and rows[0, :6].tolist() == [181, 160, 250, 207, 35, 232]


def test_generate_takes_the_parameters(rthiss, tmp_path):
    path = tmp_path / "rows.npy"
    rthiss.run("generate", "uniform", "-n", 1000, "-d", 2, "--low", -3, "--high", -2, "--seed", 5, "-o", path)
    rows = np.load(path)
    assert -3 < rows.min() < -2.99 and -2.01 < rows.max() < -2


def test_generate_workloads_by_name(rthiss, tmp_path):
    path = tmp_path / "rows.npy"
    rthiss.run("generate", "uniform2m10", "--rows", 50, "-o", path)
    assert np.load(path).shape == (50, 10)
    help_text = rthiss.run("generate", "--help").stdout
    for name in ("expo2m16", "uniform2m10", "susylike5m18", "embed1m128", "expo100k64"):
        assert name in help_text


def test_generate_whole_workload_has_its_sha256(rthiss, tmp_path):
    report = load_json(rthiss.run("generate", "expo100k64", "-o", tmp_path / "rows.npy", "--json", "-"))
    assert (report["n"], report["d"], report["dtype"]) == (100000, 64, "float64")
    assert report["sha256"].startswith("a6e38f277633678e")


# --- convert


def test_convert_round_trip(rthiss, save, tmp_path):
    rows = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    rthiss.run("convert", save("rows.npy", rows), tmp_path / "rows.fvecs")
    rthiss.run("convert", tmp_path / "rows.fvecs", tmp_path / "rows.csv")
    rthiss.run("convert", tmp_path / "rows.csv", tmp_path / "back.npy")
    assert (np.load(tmp_path / "back.npy") == rows).all()


def test_convert_columns_and_normalisation(rthiss, save, tmp_path):
    rows = np.array([[1, 10, 7], [2, 30, 7], [5, 20, 7]])
    report = load_json(rthiss.run("convert", save("rows.npy", rows), tmp_path / "out.npy", "--columns", "2,0-1",
                                  "--normalise", "--json", "-"))
    assert (report["n"], report["d"], report["dtype"]) == (3, 3, "float64")
    assert np.load(tmp_path / "out.npy").tolist() == [[0, 0, 0], [0, 0.25, 1], [0, 1, 0.5]]


def test_convert_refuses_values_that_do_not_fit(rthiss, save, tmp_path):
    rows = np.array([[1.0, 2.0], [3.0, 0.1]])
    message = rthiss.refused("convert", save("rows.npy", rows), tmp_path / "rows.fvecs", code=3)
    assert "row 1" in message and "column 1" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.npy"]


def test_convert_to_standard_output(rthiss, save):
    done = rthiss.run("convert", save("rows.npy", np.array([[1, 2], [3, 4]])), "-", "--format", "csv")
    assert done.stdout == "1,2\n3,4\n"
    assert "2 rows" in done.stderr


# --- verify


@pytest.fixture
def joined(rthiss, save, tmp_path):
    """A lattice with ties on the radius, and its result with distances."""
    data = save("rows.npy", np.array(oracle.lattice(200, 8, 16), np.uint8))
    output = tmp_path / "lists.npz"
    rthiss.run("join", data, "--radius", 14, "--distances", "--output", output)
    return data, output


@pytest.mark.parametrize("how", [[], ["--all"], ["--sample", 17]])
@pytest.mark.parametrize("format", ["npz", "pairs", "pairs-csv", "counts"])
@pytest.mark.parametrize("include_self", [False, True])
def test_verify_accepts_what_is_right(rthiss, save, tmp_path, how, format, include_self):
    data = save("rows.npy", np.array(oracle.lattice(200, 8, 16), np.uint8))
    output, own = tmp_path / "result", ["--include-self"] if include_self else []
    more = ["--distances"] if format in ("npz", "pairs-csv") else []
    rthiss.run("join", data, "--radius", 14, "--output", output, "--format", format, *own, *more)
    report = load_json(rthiss.run("verify", data, output, "--radius", 14, "--json", "-", *own, *how))
    assert report["correct"] is True
    assert report["rows_checked"] == (17 if "--sample" in how else 200)
    assert report["pairs_checked"] > 0


def rewrite(output, change):
    matrix = scipy.sparse.load_npz(output)
    changed = scipy.sparse.csr_matrix(change(matrix.tocoo()))
    changed.sort_indices()
    scipy.sparse.save_npz(output, changed, compressed=False)


def test_verify_finds_a_missing_pair(rthiss, joined):
    data, output = joined

    def drop_first(matrix):
        return scipy.sparse.coo_matrix((matrix.data[1:], (matrix.row[1:], matrix.col[1:])), matrix.shape)

    rewrite(output, drop_first)
    done = rthiss.run("verify", data, output, "--radius", 14, code=3)
    assert "1 pairs missing" in done.stdout and "is missing" in done.stdout


def test_verify_finds_an_extra_pair(rthiss, joined):
    data, output = joined
    matrix = scipy.sparse.load_npz(output)
    absent = next(j for j in range(1, 200) if matrix[0, j] == 0)

    def add_one(matrix):
        return scipy.sparse.coo_matrix(
            (np.append(matrix.data, 14.0), (np.append(matrix.row, 0), np.append(matrix.col, absent))), matrix.shape)

    rewrite(output, add_one)
    report = load_json(rthiss.run("verify", data, output, "--radius", 14, "--json", "-", code=3))
    assert (report["missing_pairs"], report["extra_pairs"], report["wrong_distances"]) == (0, 1, 0)
    assert report["examples"] == [f"pair (0, {absent}) is too much"]


def test_verify_finds_a_distance_one_ulp_off(rthiss, joined):
    data, output = joined

    def nudge(matrix):
        matrix.data[5] = np.nextafter(matrix.data[5], 100)
        return matrix

    rewrite(output, nudge)
    report = load_json(rthiss.run("verify", data, output, "--radius", 14, "--all", "--json", "-", code=3))
    assert report["correct"] is False and report["wrong_distances"] == 1


def test_verify_finds_wrong_counts(rthiss, save, tmp_path):
    data, output = save("rows.npy", np.zeros((40, 1))), tmp_path / "counts.npy"
    rthiss.run("count", data, "--radius", 0, "--output", output)
    counts = np.load(output)
    counts[7] += 1
    np.save(output, counts)
    report = load_json(rthiss.run("verify", data, output, "--radius", 0, "--json", "-", code=3))
    assert report["wrong_counts"] == 1 and report["examples"] == ["row 7 has 40 neighbours instead of 39"]


def test_verify_semi_join_and_cosine(rthiss, save, tmp_path):
    rows = np.random.default_rng(8).normal(size=(60, 4))
    data, queries, output = save("rows.npy", rows), save("queries.npy", rows[::3] + 0.01), tmp_path / "lists.npz"
    rthiss.run("join", data, "--queries", queries, "--radius", 1, "--output", output, "--distances")
    rthiss.run("verify", data, output, "--queries", queries, "--radius", 1, "--all")
    rthiss.run("verify", data, output, "--queries", queries, "--radius", 1.5, "--all", code=3)
    rthiss.run("join", data, "--cosine", 0.5, "--output", output, "--distances")
    rthiss.run("verify", data, output, "--cosine", 0.5, "--all")


def test_verify_refuses_results_of_other_data(rthiss, joined, save):
    _, output = joined
    rthiss.refused("verify", save("other.npy", np.ones((199, 8))), output, "--radius", 14, code=3)
    assert "lists.npz" in rthiss.refused("verify", output.parent / "rows.npy", output.parent / "no" / "lists.npz",
                                         "--radius", 14, code=6)
