"""What can be asked of a search, from the command line."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from commands import command, environment, regard, sentence

import regard as library

LINES = [f"{day} May {1990 + day}" for day in range(1, 9)]


def predict(folder: Path, lines: list[str], *options: str) -> subprocess.CompletedProcess[bytes]:
    return regard("predict", "runs/tiny", *options, folder=folder, stdin="\n".join(lines).encode())


def test_scores_of_answers_are_what_score_says_of_them(tiny: Path) -> None:
    told = predict(tiny, LINES, "--search", "sample=true", "--scores").stdout.decode().splitlines()
    answers, scores = zip(*(line.split("\t") for line in told), strict=True)
    pairs = "\n".join(f"{source}\t{answer}" for source, answer in zip(LINES, answers, strict=True))
    found = regard("score", "runs/tiny", folder=tiny, stdin=pairs.encode()).stdout.decode().splitlines()
    predictions = library.load(tiny / "runs/tiny").predict(LINES, sample=True)
    finished = [n for n, one in enumerate(predictions) if one.finished and "<unk>" not in one.pieces]
    assert finished
    for number in finished:
        assert float(found[number]) == pytest.approx(float(scores[number]), abs=2e-5)


def test_score_refuses_a_line_without_two_sides_and_names_it(tiny: Path) -> None:
    done = regard("score", "runs/tiny", folder=tiny, stdin=b"a\tb\nno tab\n", code=2)
    assert "Line 2 has no source and target" in sentence(done)
    assert len(done.stdout.splitlines()) == 1  # what came before it is scored


def test_the_next_best_are_listed_with_the_number_of_their_line(tiny: Path) -> None:
    told = predict(tiny, LINES, "--beam", "4", "--best", "3").stdout.decode().splitlines()
    fields = [line.split(" ||| ") for line in told]
    assert [int(number) for number, *_ in fields] == [n for n in range(1, 9) for _ in range(3)]
    best = predict(tiny, LINES, "--beam", "4").stdout.decode().splitlines()
    assert [answer for _, answer, _ in fields[::3]] == best


def test_json_has_all_that_is_known_and_reads_wishes_line_by_line(tiny: Path) -> None:
    asked = [
        json.dumps({"source": LINES[0]}),
        json.dumps({"source": LINES[0], "prefix": "1999"}),
        json.dumps({"source": LINES[0], "require": ["☃"]}),
        "no object",
        json.dumps({"source": LINES[1]}),
    ]
    options = ("--input", "json", "--output", "json", "--beam", "2", "--best", "2", "--alignments")
    done = predict(tiny, asked, *options)
    free, begun, impossible, broken, last = map(json.loads, done.stdout.decode().splitlines())
    assert free["source"] == LINES[0]
    assert len(free["alternatives"]) == 1
    assert {"text", "score", "rank", "finished", "pieces", "alignment"} <= set(free)
    assert begun["text"].startswith("1999")
    assert impossible["problem"] == "the model has no pieces for '☃'"
    assert broken["text"] == ""
    assert last["source"] == LINES[1]
    assert b"line 3 has no answer" in done.stderr
    assert b"line 4 is answered with nothing" in done.stderr


def test_wishes_for_all_lines_are_kept(tiny: Path) -> None:
    found = (
        predict(tiny, LINES, "--prefix", "20", "--require", "77", "--forbid", "-")
        .stdout.decode()
        .splitlines()
    )
    assert len(found) == len(LINES)
    for answer in found:
        assert answer.startswith("20")
        assert "77" in answer
        assert "-" not in answer


def test_a_run_with_itself_answers_as_alone(tiny: Path) -> None:
    alone = predict(tiny, LINES, "--beam", "2").stdout
    assert predict(tiny, LINES, "--beam", "2", "--with", "runs/tiny").stdout == alone


def test_samples_depend_on_the_seed_and_the_line_alone(tiny: Path) -> None:
    sampling = ("--search", "sample=true", "--search", "temperature=2", "--search")
    first = predict(tiny, LINES, *sampling, "seed=1").stdout.splitlines()
    assert predict(tiny, LINES[::-1], *sampling, "seed=1", "--window", "3").stdout.splitlines() == first[::-1]
    assert predict(tiny, LINES, *sampling, "seed=2").stdout.splitlines() != first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--search", "no_repaet=3"), "Did you mean 'no_repeat'"),
        (("--search", "no_repeat"), "Write it as NAME=VALUE"),
        (("--search", "no_repeat=x"), "no_repeat can't be 'x'"),
        (("--search", "sample=maybe"), "sample can't be 'maybe'"),
        (("--mbr", "chrf"), "mbr chooses among several answers"),
        (("--with", "runs/other"), "runs/other"),
        (("--dictionary", "words.tsv"), "words.tsv"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(tiny: Path, options: tuple[str, ...], message: str) -> None:
    done = regard("predict", "runs/tiny", *options, folder=tiny, stdin=b"3 May 2018\n", code=2)
    assert message in sentence(done)


def test_an_endless_stream_is_answered_in_order_and_constant_memory_until_it_is_interrupted(
    tiny: Path,
) -> None:
    """Answers come while lines are still being written; Ctrl-C ends it."""
    process = subprocess.Popen(
        command("predict", "runs/tiny", "--beam", "2", "--window", "64"),
        cwd=tiny,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    line = b"3 May 2018\n4 June 2001\n"
    sizes = []
    try:
        for _ in range(6):
            process.stdin.write(line * 3200)
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in range(6400)]
            assert len({*answers[0::2]}) == len({*answers[1::2]}) == 1
            sizes.append(_resident(process.pid))
        assert max(sizes[2:]) < 1.05 * sizes[1] + 2**20
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        _, err = process.communicate()
    assert b"Traceback" not in err


def _resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096


def test_scores_of_another_search_are_shown_and_not_saved(tiny: Path) -> None:
    regard("evaluate", "runs/tiny", folder=tiny)
    saved = (tiny / "runs/tiny/scores.json").read_bytes()
    options = ("--best", "3", "--mbr", "chrf", "--with", "runs/tiny", "--search", "length_penalty=1")
    done = regard("evaluate", "runs/tiny", *options, folder=tiny)
    assert b"exact_match" in done.stdout
    assert b"Saved" not in done.stderr
    assert (tiny / "runs/tiny/scores.json").read_bytes() == saved
