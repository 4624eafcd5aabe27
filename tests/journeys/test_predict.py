import subprocess
from pathlib import Path

from commands import command, environment, regard


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


def test_a_last_line_without_a_newline_is_a_line_and_nothing_is_no_line(tiny: Path) -> None:
    assert predict(tiny, b"3 May 2018").stdout.count(b"\n") == 1
    assert predict(tiny, b"").stdout == b""


def test_order_and_window_change_no_answer(tiny: Path) -> None:
    lines = [f"{day} May {1990 + day}".encode() for day in range(1, 29)]
    together = predict(tiny, b"\n".join(lines)).stdout.splitlines()
    assert predict(tiny, b"\n".join(lines), "--window", "3").stdout.splitlines() == together
    assert predict(tiny, b"\n".join(reversed(lines))).stdout.splitlines() == together[::-1]


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
