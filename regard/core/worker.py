"""What runs in the processes that `regard.core.cores` starts: one function, for whatever comes in on stdin."""

import os
import pickle
import sys
import traceback


def work() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not taken for an answer
    function = pickle.load(sys.stdin.buffer)
    while True:
        try:
            item = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = _packed(True, function(item))
        except Exception as error:
            answer = _told(error)
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # whoever asked is gone
            os._exit(1)


def _told(error: Exception) -> bytes:
    """An error as it is; where it cannot be sent, or not be read again, what it says and where it was."""
    try:
        answer = _packed(False, error)
        pickle.loads(answer)
    except Exception:
        return _packed(False, RuntimeError("".join(traceback.format_exception(error))))
    return answer


def _packed(is_good: bool, result: object) -> bytes:
    return pickle.dumps((is_good, result), protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    work()
