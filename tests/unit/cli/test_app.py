import sys

import pytest
import torch

from regard.cli import app as application


def run(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def fail() -> None:
        raise error

    monkeypatch.setattr(application, "app", fail)
    return application.run()


def allocation_error() -> RuntimeError:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50)  # more than any address space
    return caught.value


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: not enough memory"),
        allocation_error(),
    ],
    ids=["python", "cuda", "allocator", "real"],
)
def test_too_little_memory_is_a_sentence_that_says_what_to_lower(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(error, monkeypatch) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for word in ("out of memory", "training.batch_tokens", "evaluation.batch_tokens", "beam", "widths"):
        assert word in said


def test_a_mistake_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        run(RuntimeError("shapes do not match"), monkeypatch)
    monkeypatch.delitem(sys.modules, "torch")  # as in a command that never needed it
    with pytest.raises(RuntimeError, match="shapes"):
        run(RuntimeError("shapes do not match"), monkeypatch)


def test_ctrl_c_in_a_command_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.config.recipes", interrupted)
    monkeypatch.setattr("sys.argv", ["regard", "recipes"])
    assert application.run() == 130
