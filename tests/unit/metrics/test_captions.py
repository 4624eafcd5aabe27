"""Against pycocoevalcap 1.2, whose wheel of 104 MB brings Java programs: it was asked once, and not installed here.

pip install --no-deps pycocoevalcap==1.2
truth = PTBTokenizer().tokenize({number: [{"caption": text} for text in REFERENCES[number]], ...})
said = PTBTokenizer().tokenize({number: [{"caption": PREDICTIONS[number]}], ...})
Bleu(4).compute_score(truth, said), Cider().compute_score(truth, said)
"""

import pytest

from regard.metrics import METRICS
from regard.metrics.captions import caption_words

PREDICTIONS = [
    "A brown dog runs across the snow.",
    "Two men don't look at the camera",
    "a girl in a pink dress climbing the stairs .",
    "a man",
    "A red-and-white boat on the lake, near the shore; nobody's in it!",
    "the the the the the dog",
]
REFERENCES = [
    ["A brown dog is running through the snow .", "The dog runs across deep snow.", "A dog plays in the snow"],
    ["Two men aren't looking at the camera.", "Men are sitting on a bench", "Two men sit on a park bench ."],
    ["A little girl climbs the stairs in a pink dress .", "A child in a dress on the stairs", "Girl climbing stairs"],
    ["A man with a hat plays the guitar .", "The musician is playing his guitar on stage.", "A man on a stage"],
    ["An empty red-and-white boat lies on a lake.", "A boat's on the lake", "A boat near the shore of the lake ."],
    ["The dog sleeps .", "A dog lies on the sofa", "The small dog is asleep on the sofa ."],
]  # fmt: skip
BLEU = {1: 0.8222222222039507, 2: 0.63290583861316065, 3: 0.4396301155041133, 4: 0.2347070139800018}
CIDER = 1.7570387433973312
CIDER_OF_EACH = [2.6569986442, 1.6544799401, 2.4177131534, 1.3657175675, 1.3627254142, 1.0845977410]


@pytest.mark.parametrize("order", BLEU)
def test_bleu_is_that_of_the_coco_server(order: int) -> None:
    score = METRICS[f"caption_bleu_{order}"]()(PREDICTIONS, REFERENCES)
    assert score.value == pytest.approx(100 * BLEU[order], abs=1e-6)  # it adds a billionth to its divisors
    assert f"order:{order}" in score.signature


def test_cider_is_a_hundred_times_that_of_its_authors() -> None:
    tally = METRICS["cider"]().tally(PREDICTIONS, REFERENCES)
    assert tally.score().value == pytest.approx(100 * CIDER, abs=1e-9)
    assert tally.each() == pytest.approx([100 * value for value in CIDER_OF_EACH], abs=1e-6)
    assert tally.over([4, 0]).score().value == pytest.approx(
        50 * (CIDER_OF_EACH[4] + CIDER_OF_EACH[0]), abs=1e-6
    )


def test_cider_can_reach_a_thousand_and_a_picture_alone_gets_nothing() -> None:
    captions = ["a red circle above a blue square", "two green triangles side by side"]
    assert METRICS["cider"]()(captions, [[one] for one in captions]).value == pytest.approx(1000)
    assert METRICS["cider"]()(captions[:1], [captions[:1]]).value == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man 's Dog isn't here .", "a man 's dog is n't here"),
        ("the men’s hats, they're BLUE; no?", "the men 's hats they 're blue no"),
        ("a t-shirt - and a black-and-white cat --", "a t-shirt and a black-and-white cat"),
        ('(says "hello") `there`', "says hello there"),
        ("at 10:30 for $3.50 & 20%", "at 10:30 for $ 3.50 & 20 %"),
        ("don't can't won't", "do n't ca n't wo n't"),
        ("a man in a <unk> jumps", "a man in a <unk> jumps"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("", ""),
        (" ... ", ""),
    ],
)
def test_captions_are_cut_as_in_the_penn_treebank_without_punctuation(text: str, words: str) -> None:
    """What Stanford's tokenizer of pycocoevalcap gives, but for brackets, which it leaves as -lrb-."""
    assert caption_words(text) == words.split()
