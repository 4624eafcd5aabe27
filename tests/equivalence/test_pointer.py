"""Words that only a source has: the same on every road, and the same word at its end."""

import math

import pytest
import torch
from small import MODELS, POINTERS, VOCABULARY, batch, recurrent, search

from regard.core.batch import Batch, Tokens
from regard.core.pieces import BEGIN, END, UNKNOWN
from regard.data import Limits
from regard.forcing import force
from regard.models import Seq2Seq
from regard.predictor import Predictor
from regard.search import Ensemble, SearchPlan
from regard.tasks.text import TextCodec
from regard.text import TOKENIZERS
from regard.training import FEEDINGS, Coverage, CrossEntropy
from regard.training.likelihood import Features, Said
from regard.viewing import TextView

TEXTS = ["Zorblax Zorblax Qwib Zorblax Zorblax", "Grue Grue b Grue", "a b", "Qwib Qwib Zorblax Qwib Qwib h"]
FIRST = VOCABULARY  # id of the first word that is borrowed


def predictor(*models: Seq2Seq, space: str = "probability", borrows: bool = True) -> Predictor:
    tokenizer = TOKENIZERS["words"](["a b c d e f g h"], vocabulary=VOCABULARY)
    codec = TextCodec(tokenizer, tokenizer, Limits(source=12, target=12), TextView(), borrows=borrows)
    return Predictor(
        models,
        codec,
        search=SearchPlan(max_length=6),
        batch_tokens=60,
        device=torch.device("cpu"),
        space=space,
    )


def eager(model: Seq2Seq) -> Seq2Seq:
    """Copies nearly always, and says nothing but unknown words."""
    with torch.no_grad():
        model.decoder.head.gate.bias.fill_(-6.0)
        for piece in (END, UNKNOWN, BEGIN, 0):
            model.decoder.head.bias[piece] = -9.0
    return model


@pytest.mark.parametrize("name", POINTERS)
def test_unroll_equals_repeated_steps_on_words_beyond_the_vocabulary(name: str) -> None:
    model, examples = POINTERS[name](), batch(strange=True)
    assert int(examples.target.ids.max()) == VOCABULARY + 1
    with torch.inference_mode():
        logits = model.decoder.head(model(examples).features)  # B T (V + 2)
        assert logits.shape[-1] == VOCABULARY + 2
        state = model.begin(examples.source)
        for t, tokens in enumerate(examples.target.fed.unbind(1)):
            output = model.step(tokens, state)
            state = output.state
            torch.testing.assert_close(output.logits, logits[:, t])
        torch.testing.assert_close(logits.exp().sum(-1), torch.ones(logits.shape[:-1]))


@pytest.mark.parametrize("name", POINTERS)
def test_a_word_that_was_borrowed_is_read_as_unknown(name: str) -> None:
    model, examples = POINTERS[name](), batch(strange=True)
    ids = examples.target.ids
    plain = Tokens(torch.where(ids < VOCABULARY, ids, UNKNOWN), examples.target.lengths)
    with torch.inference_mode():
        one, other = (
            model.decoder.head(model(Batch(examples.source, target)).features)
            for target in (examples.target, plain)
        )
    torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("name", POINTERS)
@pytest.mark.parametrize("feeding", FEEDINGS)
def test_every_feeding_learns_from_words_that_were_borrowed(name: str, feeding: str) -> None:
    model, examples = POINTERS[name]().train(), batch(strange=True)
    objective = CrossEntropy(
        label_smoothing=0.1, feeding=FEEDINGS[feeding](lambda step: 0.5), penalties=[Coverage(layer=-1)]
    )
    loss = objective(model, examples)
    loss.total.backward()
    assert math.isfinite(float(loss.total.detach()))
    gate = model.decoder.head.gate.weight.grad
    assert gate is not None
    assert gate.isfinite().all()
    assert gate.any()


def test_what_is_judged_is_what_steps_say() -> None:
    model, examples = POINTERS["pointer, transformer"](), batch(strange=True)
    wanted = examples.target.ids[examples.target.mask]
    features = model(examples).features[examples.target.mask]
    chunks = Features(features, model.decoder.head).judge(wanted)
    torch.testing.assert_close(
        chunks.likelihoods, Said(model.decoder.head(features), model.decoder.head).judge(wanted).likelihoods
    )


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", ["pointer, history", "pointer, transformer", "pointer, stream"])
def test_forcing_an_answer_with_borrowed_words_says_what_the_search_said(name: str, beam: int) -> None:
    asked = predictor(eager(POINTERS[name]()))
    answers = asked.predict(TEXTS, beam=beam, max_length=4, attention="none", min_length=2)
    texts = [one.text for one in answers]
    assert any(word in text for text in texts for word in ("Zorblax", "Qwib", "Grue"))
    # Forced targets end; a search that was cut off did not.
    with torch.inference_mode():
        for answer in answers:
            (row,) = asked.codec.encode([answer.source])
            aims = asked.codec.encode_targets([answer.text], [answer.source])[0]
            aims = aims if answer.finished else aims[:-1]
            pair = Batch(Tokens.pad([row]), Tokens.pad([aims]))
            logits = asked.models[0].decoder.head(asked.models[0](pair).features).log_softmax(-1)
            score = logits[0].gather(-1, pair.target.ids[0, :, None]).sum()
            assert answer.score == pytest.approx(float(score), abs=1e-4)
    finished = force(asked, TEXTS, texts)
    assert all(math.isfinite(one.score) for one in finished)


def test_words_that_were_never_seen_come_out_as_they_went_in() -> None:
    asked = predictor(eager(POINTERS["pointer, recurrent"]()))
    codec = asked.codec
    (row,) = codec.encode(["Zorblax c Qwib a"])
    assert row == [FIRST, codec.target.encode("c")[0], FIRST + 1, codec.target.encode("a")[0], END]
    (found,) = force(asked, ["Zorblax c Qwib a"], ["Qwib a Zorblax"])
    assert found.attention.target_pieces == ("▁Qwib", "▁a", "▁Zorblax", "</s>")
    assert found.attention.source_pieces[:3] == ("▁Zorblax", "▁c", "▁Qwib")
    said = asked.predict("Zorblax c Qwib a", beam=3)
    assert set(said.text.split()) <= {"Zorblax", "c", "Qwib", "a"}
    assert len(said.text.split()) == len(said.pieces)
    assert said.attention.in_words().target_pieces[: len(said.pieces)] == tuple(said.text.split())


def test_an_answer_to_a_source_does_not_depend_on_its_neighbours_words() -> None:
    asked = predictor(eager(POINTERS["pointer, transformer"]()))
    together = asked.predict(TEXTS, beam=3)
    for found, text in zip(together, TEXTS, strict=True):
        alone = asked.predict(text, beam=3)
        assert alone.text == found.text
        assert alone.score == pytest.approx(found.score, abs=1e-5)


@pytest.mark.parametrize("space", ["probability", "log"])
def test_an_ensemble_with_a_member_that_cannot_point_is_forced_as_it_searches(space: str) -> None:
    model = eager(POINTERS["pointer, recurrent"]())
    asked = predictor(model, recurrent(), space=space)
    (answer,) = asked.predict(TEXTS[:1], beam=2, min_length=3, attention="none")
    words = {"Zorblax", "Qwib"} & set(answer.text.split())
    assert bool(words) is (space == "probability")  # what one finds impossible is so for all
    (found,) = force(asked, ["Zorblax c Qwib a"], ["Zorblax"])
    assert math.isfinite(found.score) is (space == "probability")


def test_an_ensemble_of_pointers_averages_what_is_copied() -> None:
    members = [eager(POINTERS[name]()) for name in ("pointer, recurrent", "pointer, transformer")]
    source = batch(strange=True).source
    found = search(Ensemble(members), source, SearchPlan(beam=3, max_length=5), memory=[source, source])
    for row, (best,) in enumerate(found):
        alone = Tokens(source.ids[row : row + 1, : source.lengths[row]], source.lengths[row : row + 1])
        pair = Batch(alone, Tokens.pad([best.tokens]))
        with torch.inference_mode():
            said = (
                torch.stack([one.decoder.head(one(pair).features)[0].exp() for one in members]).mean(0).log()
            )
        score = said.gather(-1, pair.target.ids[0, :, None]).sum()
        assert best.score == pytest.approx(float(score), abs=1e-4)


def test_a_history_changes_the_next_look_and_only_the_next() -> None:
    model, examples = MODELS["history alone"](), batch()
    with torch.inference_mode():
        looks = model(examples).attention["cross"]
        torch.nn.init.zeros_(model.decoder.look.history.weight)
        without = model(examples).attention["cross"]
    torch.testing.assert_close(looks[..., 0, :], without[..., 0, :])
    assert not torch.allclose(looks[0, ..., 1, :], without[0, ..., 1, :])


def test_words_that_were_borrowed_are_told_while_an_answer_grows() -> None:
    codec = predictor(recurrent()).codec
    assert codec.said([FIRST, 5, FIRST + 1], "Zorblax a Qwib") == (
        ("▁Zorblax", codec.target.pieces([5])[0], "▁Qwib"),
        f"Zorblax {codec.target.decode([5])} Qwib",
    )
