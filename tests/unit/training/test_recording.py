import json
from pathlib import Path

from regard.training import Averaged, Progressed, Recorder, Validated, Validation
from regard.training.recording import newest_metrics, read_metrics


def progressed(step: int) -> Progressed:
    return Progressed(step, 0, 1 / step, 0.1, 2.0, 100 * step, 50.0, 2.0 * step)


def test_a_record_goes_on_after_the_step_that_training_goes_on_from(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    recorder = Recorder(path, None, step=0)
    for step in (1, 2, 3):
        recorder.record(progressed(step))
    recorder.record(Validated(3, Validation(0.5, {"bleu": 12.0}, []), is_best=True))
    recorder.close()
    with path.open("a") as file:
        file.write('{"kind": "train", "st')  # killed in the middle of a line
    recorder = Recorder(path, None, step=2)
    recorder.record(progressed(3))
    recorder.close()
    assert [line["step"] for line in read_metrics(path)] == [1, 2, 3]


def test_a_validation_that_is_done_again_is_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 2}\n{"kind": "validation", "step": 2}\n')
    Recorder(path, None, step=2).close()
    assert len(path.read_text().splitlines()) == 2
    Recorder(path, None, step=2, again=True).close()
    assert [line["kind"] for line in read_metrics(path)] == ["train"]


def test_a_record_has_every_figure(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    recorder = Recorder(path, None, step=0)
    recorder.record(progressed(4))
    recorder.record(Validated(4, Validation(0.5, {"bleu": 12.0}, []), is_best=True))
    recorder.close()
    train, validation = read_metrics(path)
    assert train["loss"] == 0.25
    assert train["tokens_per_second"] == 50.0
    assert validation == {"kind": "validation", "step": 4, "loss": 0.5, "bleu": 12.0}


def averaged() -> Averaged:
    return Averaged(4, (4, 3), {}, Validation(0.4, {"bleu": 13.0}, []), is_best=True, best=3)


def test_an_average_is_recorded_once_however_often_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    for _ in range(2):
        recorder = Recorder(path, tmp_path / "board", step=4)
        recorder.record(averaged())
        recorder.close()
    (line,) = read_metrics(path)
    assert line == {"kind": "average", "step": 4, "steps": [4, 3], "is_best": True, "loss": 0.4, "bleu": 13.0}


def test_tensorboard_gets_the_same(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    recorder = Recorder(tmp_path / "metrics.jsonl", tmp_path / "board", step=0)
    recorder.record(progressed(4))
    recorder.close()
    board = EventAccumulator(str(tmp_path / "board"))
    board.Reload()
    (scalar,) = board.Scalars("train/loss")
    assert (scalar.step, scalar.value) == (4, 0.25)


def test_the_newest_figures_are_found_at_the_end_of_a_long_record(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert newest_metrics(path, "train") is None
    lines = [{"kind": "train", "step": step, "more": "x" * 1000} for step in range(200)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text + '{"kind": "validation", "step": 200}\n{"kind": "train", "ste')
    found = newest_metrics(path, "train")
    assert found is not None
    assert found["step"] == 199
