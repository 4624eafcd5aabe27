from pathlib import Path

import forked
from commands import environment

KILLS = 60


def test_a_process_killed_during_a_save_always_leaves_a_loadable_run(tmp_path: Path) -> None:
    script = Path(__file__).parent / "saver.py"
    words = [str(script), str(tmp_path / "checkpoints"), str(KILLS)]
    done = forked.run(words, folder=tmp_path, environment=environment(), timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert b"WARNING" not in done.stderr
    reached, halves = map(int, done.stdout.split())
    assert reached > KILLS / 2  # it saved all the time
    assert halves > KILLS / 4  # and was often killed in the middle of it
