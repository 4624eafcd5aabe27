"""Two graphs, run by onnxruntime, answer and look as the model does."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from small import _both_sides
from untrained import SEARCH, sources, write_model

import regard
from regard import Prediction, UserError
from regard.core.prediction import Request
from regard.engines import export

onnxruntime = pytest.importorskip("onnxruntime")

SIZES = ["model.embedding=8", *_both_sides("both.width=16"), *SEARCH]
MODELS = {
    "look_then_step": ["attention.heads=2", "attention.scope=local_predicted", "attention.radius=3"],
    "step_look_step": ["decoder.kind=step_look_step", "both.layers=2", "attention.history=true"],
    "step_then_look": [
        "decoder.kind=step_then_look",
        "both.cell=rnn",
        "encoder.directions=one",
        "encoder.reverse=true",
        "attention={score='position', scope='local_monotonic', radius=4, selection='sparse'}",
    ],
    "step_then_look_fed": [
        "decoder.kind=step_then_look_fed",
        "both.cell=lstm",
        "both.layers=2",
        "decoder.bridge=last",
        "encoder.residual=true",
        "encoder.layer_norm=true",
        "attention={score='general', selection='hard', history=true}",
    ],
}
PAGE = (Path(__file__).parent.parent.parent / "docs/engines.md").read_text(encoding="utf-8")
ASKED = ["a", *sources(10), "p" * 38]


def untrained(folder: Path, *changes: str) -> Path:
    return write_model(folder, [*SIZES, *_both_sides(*changes)], lively=2.0)


def greedy(folder: Path, texts: list[str], longest: int) -> list[tuple[list[int], np.ndarray]]:
    """For each text, asked together, the pieces and where it looked (H T S)."""
    made = regard.engines.find_export(folder)
    assert made is not None
    facts, codec = made.facts, regard.build.load_codec(made.model.config(), made.model)
    encoder, step = (
        onnxruntime.InferenceSession(made.files / f"{name}.onnx") for name in ("encoder", "step")
    )

    def run(graph: object, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return dict(zip([one.name for one in graph.get_outputs()], graph.run(None, inputs), strict=True))

    rows = codec.collate(codec.read([Request(text) for text in texts]))
    state = run(encoder, {"ids": rows.ids.numpy(), "lengths": rows.lengths.numpy()})
    assert list(state) == facts["state"]
    tokens = np.full(len(texts), facts["begin"])
    said, looks = [], []
    for _ in range(longest):
        found = run(step, {"tokens": tokens, **state})
        assert ("attention" in found) == facts["attention"]
        tokens = found["log_probabilities"].argmax(-1)
        said.append(tokens)
        looks.append(found.get("attention", np.zeros((len(texts), 0, 0))))
        state |= {name: found[f"next_{name}"] for name in facts["changing"]}
    every = np.stack(said, axis=1).tolist()  # B T
    return [
        (row[: row.index(facts["end"]) + 1] if facts["end"] in row else row, np.stack(looks, axis=2)[place])
        for place, row in enumerate(every)
    ]


def agrees(answer: Prediction, tokens: list[int], looks: np.ndarray, names: tuple[str, ...]) -> bool:
    record = answer.attention
    if tuple(names[token] for token in tokens) != record.target_pieces:
        return False
    if "cross" in record.weights:
        weights = record.weights["cross"][0]  # H T S
        np.testing.assert_allclose(
            looks[:, : weights.shape[1], : weights.shape[2]], weights, atol=1e-4, rtol=0
        )
        assert np.abs(looks[:, : weights.shape[1], weights.shape[2] :]).sum() == 0  # nobody looks at padding
    return True


@pytest.mark.parametrize("name", MODELS)
def test_answers_and_looks_are_the_models_own(name: str, tmp_path: Path) -> None:
    path = untrained(tmp_path / "model", *MODELS[name])
    made = export(path, to="onnx", output=tmp_path / "out")
    model = regard.load(path)
    expected = model.predict(ASKED, max_length=12)
    assert len({one.text for one in expected}) > 4
    names = model.codec.target.pieces(range(len(model.codec.target)))
    together = greedy(made.folder, ASKED, 12)
    alone = [greedy(made.folder, [one], 12)[0] for one in (ASKED[0], ASKED[-1])]
    found = [agrees(one, *said, names) for one, said in zip(expected, together, strict=True)]
    assert sum(found) >= len(ASKED) - 1
    assert agrees(expected[0], *alone[0], names)
    assert agrees(expected[-1], *alone[1], names)
    if name == "look_then_step":
        assert (
            by_the_example(made.folder, ASKED[3]) == model.predict(ASKED[3], max_length=50, max_ratio=99).text
        )


def by_the_example(folder: Path, text: str) -> str:
    """What the program of docs/engines.md prints; its model has a tokenizer for each side."""
    for side in ("source", "target"):
        shutil.copy(folder / "tokenizer.json", folder / f"{side}.tokenizer.json")
    (code,) = [
        one for one in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if "onnxruntime" in one
    ]
    printed: list[str] = []
    exec(code.replace('"folder/', f'"{folder}/').replace("3 May 2018", text), {"print": printed.append})
    return printed[0]


def test_what_grows_with_every_step_is_refused(tmp_path: Path) -> None:
    for changes, said in (
        (["model.preset=transformer_tiny"], "this one is transformer"),
        (["model.decoder={kind='transformer', width=16, heads=2}"], "have a state that is as large"),
        (["text.shared=true", "model.attention.pointer=true"], "pointer"),
    ):
        path = write_model(tmp_path / said, [*SEARCH, *changes])
        with pytest.raises(UserError, match=said):
            export(path, to="onnx", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match="float32"):
        export(path, to="onnx", compute_type="int8")
