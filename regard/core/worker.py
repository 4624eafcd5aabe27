"""What runs in the processes that `regard.core.cores` starts: one function, for whatever comes in on stdin."""

import os
import pickle
import sys


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
            answer = (True, function(item))
        except Exception as error:
            answer = (False, error)
        try:
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()
        except BrokenPipeError:  # whoever asked is gone
            os._exit(1)


if __name__ == "__main__":
    work()
