import subprocess
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from commands import command, environment, regard

import regard as library


def predict(folder: Path, stdin: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return regard("predict", "runs/tiny", *options, folder=folder, stdin=stdin)


def test_one_line_out_for_each_line_in_whatever_stands_in_it(tiny: Path) -> None:
    lines = [
        b"3 May 2018",
        b"",
        b"   \t ",
        "5 mai\u2028 1999".encode(),
        b"4 June\r 2001",
        b"a\x0bb\x0cc\x1cd\x85e",
        b"\xff\xfe not utf-8 \x80",
        b"\x00\x01\x02",
        "漢字 🙂 \u202e".encode(),
        b"<s> </s> <pad> <unk>",
        b"x" * 100_000,
        b"7 July 2020\r",
    ]
    done = predict(tiny, b"\n".join(lines) + b"\n")
    answers = done.stdout.split(b"\n")
    assert answers.pop() == b""
    assert len(answers) == len(lines)
    assert answers[1] == answers[2] == b""
    assert all(answers[n] for n in (0, 3, 4, 7, 10))
    assert b"line 7, byte 1: not UTF-8" in done.stderr
    assert b"was cut to 200" in done.stderr
    for number in (0, 3, 10, 11):  # and each is the answer that it gets alone
        assert predict(tiny, lines[number] + b"\n").stdout == answers[number] + b"\n"


def test_of_many_sources_that_are_cut_a_few_are_quoted_and_all_are_counted(tiny: Path) -> None:
    lines = [f"{number} ".encode() * 150 for number in range(10, 20)]
    done = predict(tiny, b"\n".join(lines), "--window", "4")
    assert done.stdout.count(b"\n") == 10
    assert done.stderr.count(b"was cut to 200") == 3
    assert (
        done.stderr.decode().splitlines()[-1] == "Warning: 7 more sources were cut to 200 pieces; 10 in all."
    )


def test_a_last_line_without_a_newline_is_a_line_and_nothing_is_no_line(tiny: Path) -> None:
    assert predict(tiny, b"3 May 2018").stdout.count(b"\n") == 1
    assert predict(tiny, b"").stdout == b""


def test_order_and_window_change_no_answer(tiny: Path) -> None:
    lines = [f"{day} May {1990 + day}".encode() for day in range(1, 29)]
    together = predict(tiny, b"\n".join(lines)).stdout.splitlines()
    assert predict(tiny, b"\n".join(lines), "--window", "3").stdout.splitlines() == together
    assert predict(tiny, b"\n".join(reversed(lines))).stdout.splitlines() == together[::-1]


@pytest.mark.parametrize("beam", [1, 3])
def test_each_line_keeps_its_own_score_in_any_order_window_and_company(tiny: Path, beam: int) -> None:
    """A small model answers many lines alike; its scores tell every line from every other."""
    model = library.load(tiny / "runs/tiny")
    lines = [f"{day} May {1990 + day}" for day in range(1, 29)]
    lines[5:5], lines[11:11] = [""], ["x" * 300, "  "]
    together = [answer.score for answer in model.predict(lines, beam=beam)]
    asked = [score for line, score in zip(lines, together, strict=True) if line.strip()]
    apart = sorted(asked)
    assert min(b - a for a, b in pairwise(apart)) > 1e-5  # far above the tolerance below

    def agree(lines: list[str], **options: int) -> list[float]:
        return [answer.score for answer in model.stream(lines, beam=beam, **options)]

    exactly = partial(pytest.approx, abs=1e-6, rel=1e-6)
    assert agree(lines, window=3) == exactly(together)
    assert agree(lines, window=1) == exactly(together)
    assert agree(lines[::-1]) == exactly(together[::-1])
    assert agree(lines[7:] + lines[:7], window=10) == exactly(together[7:] + together[:7])
    model.batch_tokens = 40
    assert agree(lines) == exactly(together)


def test_the_command_answers_as_the_library_does(tiny: Path) -> None:
    lines = [f"{day} May {1990 + day}" for day in range(1, 29)]
    expected = [answer.text for answer in library.load(tiny / "runs/tiny").predict(lines)]
    assert predict(tiny, "\n".join(lines).encode()).stdout.decode().splitlines() == expected


def test_a_byte_order_mark_is_no_part_of_the_first_line(tiny: Path) -> None:
    plain = predict(tiny, b"3 May 2018\n4 May 2018\n")
    marked = predict(tiny, b"\xef\xbb\xbf3 May 2018\n4 May 2018\n")
    assert marked.stdout == plain.stdout
    assert predict(tiny, b"\xef\xbb\xbf").stdout == b""


def test_only_answers_are_on_stdout(tiny: Path) -> None:
    done = predict(tiny, b"3 May 2018\n", "--beam", "3")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == b""


def test_a_closed_pipe_ends_it_quietly(tiny: Path) -> None:
    process = subprocess.Popen(
        command("predict", "runs/tiny", "--window", "1"),
        cwd=tiny,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(b"3 May 2018\n" * 2000)
    process.stdin.close()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) in (1, 141)
    assert process.stderr.read() == b""
    process.stderr.close()
