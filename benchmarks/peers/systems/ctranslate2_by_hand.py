"""CTranslate2 called by hand, with a model that Regard exported and workers of one thread each, its best setting.

From texts to texts, as a person wants them and as Regard answers.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from contract import Decode, Shape, Step

TITLE = "CTranslate2 4.8.4"
ENVIRONMENT = "regard"  # which has it
TRAINS = ()
LACKS = "trains nothing"
END = 3
DECODERS = ("float32", "int8", "float32, one worker", "int8, one worker")


def start() -> None:
    import ctranslate2  # noqa: F401


def trainer(shape: Shape) -> Step:
    raise NotImplementedError(LACKS)


def decoder(shape: Shape, way: str) -> Decode:
    import ctranslate2
    from tokenizers import Tokenizer

    folder = Path(os.environ["REGARD_BENCH_FOLDER"]) / f"model-{shape.name}-ctranslate2"
    names = _names(folder)
    numbers = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer.from_file(str(folder.parent / "tokenizer.json"))
    lines = {
        tuple(tokenizer.encode(line, add_special_tokens=False).ids): line
        for line in (folder.parent / "sources.txt").read_text().splitlines()
    }
    kind, _, one = way.partition(", ")
    threads = int(os.environ["OMP_NUM_THREADS"])
    translator = ctranslate2.Translator(
        str(_files(folder)),
        device="cpu",
        compute_type=kind,
        inter_threads=1 if one else threads,
        intra_threads=threads if one else 1,
    )

    def decode(sources: Sequence[Sequence[int]], batch: int, beam: int, steps: int) -> list[int]:
        texts = [lines[tuple(row)] for row in sources]
        read = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        rows = [[names[piece] for piece in (*one.ids, END)] for one in read]
        found = translator.translate_batch(
            rows,
            max_batch_size=batch,
            beam_size=beam,
            max_decoding_length=steps,
            max_input_length=0,
            length_penalty=0.6 if beam > 1 else 0,
            num_hypotheses=1,
            return_end_token=True,
        )
        answers = [one.hypotheses[0] for one in found]
        tokenizer.decode_batch([[numbers[name] for name in answer] for answer in answers])
        return list(map(len, answers))

    return decode


def _files(folder: Path) -> Path:
    return next(path.parent for path in sorted(folder.rglob("model.bin")))


def _names(folder: Path) -> list[str]:
    import json

    files = _files(folder)
    path = next(
        p for p in (files / "shared_vocabulary.json", files / "source_vocabulary.json") if p.is_file()
    )
    names: list[str] = json.loads(path.read_text())
    return names
