"""Runs that are older than a setting mean by its absence what was done then."""

from typing import Any

from regard.config import load_config
from regard.config.older import as_begun, completed

LUONG = "model.preset=luong2015"


def written(*changes: str) -> dict[str, Any]:
    """A complete configuration, as a run has it."""
    return load_config("dates", [LUONG, *changes]).model_dump(mode="json")


def older(document: dict[str, Any]) -> dict[str, Any]:
    for part in ("encoder", "decoder"):
        del document["model"][part]["embedding_scale"]
    return document


def test_a_configuration_of_today_is_complete() -> None:
    assert completed(written()) == written()
    assert written()["model"]["encoder"]["embedding_scale"] is True


def test_recurrent_parts_of_older_runs_do_not_scale_their_pieces() -> None:
    whole = completed(older(written()))
    assert [whole["model"][part]["embedding_scale"] for part in ("encoder", "decoder")] == [False, False]


def test_parts_of_old_runs_that_have_no_kind_are_recurrent() -> None:
    document = older(written())
    for part in ("encoder", "decoder"):
        del document["model"][part]["kind"]
    assert completed(document)["model"]["decoder"]["embedding_scale"] is False


def test_transformers_are_what_they_were() -> None:
    document = written("model.preset=transformer_tiny")
    assert completed(document) == document


def test_a_training_goes_on_with_what_it_began_with_and_no_other_setting_changes() -> None:
    today = load_config("dates", [LUONG, "training.steps=7"])
    assert as_begun(today, written()) == today
    before = as_begun(today, older(written()))
    assert before.model_dump(exclude={"model"}) == today.model_dump(exclude={"model"})
    assert not before.model.encoder.embedding_scale
    assert not before.model.decoder.embedding_scale
