from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import MANY, RECURRENT, TRANSFORMER, TRANSLATION, Here, here, untrained


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of several kinds that have learned nothing."""
    folder = tmp_path_factory.mktemp("runs")
    untrained(folder / "recurrent", *RECURRENT)
    untrained(folder / "transformer", *TRANSFORMER, "model.encoder.positions=learned", seed=1)
    untrained(folder / "fixed", *RECURRENT, "model.attention.score=none")
    untrained(folder / "en-de", *RECURRENT, TRANSLATION, "data.train=pairs.tsv", seed=2)
    untrained(folder / "many", *RECURRENT, MANY, seed=3)
    return folder


@pytest.fixture(scope="session")
def server(runs: Path) -> Iterator[Here]:
    """All of them behind one server. Tests may ask it, never hold it up."""
    with here(*sorted(runs.iterdir())) as found:
        yield found


@pytest.fixture
def one(runs: Path) -> Iterator[Here]:
    """A server of its own, with one model."""
    with here(runs / "recurrent") as found:
        yield found
