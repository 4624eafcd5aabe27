"""Words that a model has no piece for, copied from its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regard.core.errors import UserError
from regard.core.prediction import AttentionRecord
from regard.data.lines import read_lines


@dataclass(frozen=True)
class Copying:
    """An unknown piece becomes the source word that the model looked at (Jean et al. 2015).

    Or what the dictionary says of that word (Luong et al. 2015, on rare words).
    """

    dictionary: Mapping[str, str] = field(default_factory=dict, repr=False)

    def word(self, record: AttentionRecord, step: int) -> str:
        """What to say at a step, counted from 0; nothing where no word was looked at."""
        assert record.source_words is not None
        looks = record.cross()[step]  # S
        words = record.source_words
        for place in sorted(range(len(looks)), key=lambda place: -looks[place]):
            if part := words.of[place]:
                word = words.texts[part[0]]
                return self.dictionary.get(word, word)
        return ""


def read_dictionary(path: Path) -> dict[str, str]:
    """Source words and what they become, a pair for each line, with a tab between."""
    words: dict[str, str] = {}
    for number, line in read_lines(path):
        source, tab, target = line.partition("\t")
        if line.strip() and (not tab or not source.strip() or "\t" in target):
            raise UserError(
                f"{path}, line {number}: a dictionary has two words in a line, with a tab between."
            )
        if line.strip():
            words.setdefault(source.strip(), target.strip())  # the first is the best
    return words
