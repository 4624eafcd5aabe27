"""Whether attention crosses over where Spanish says the adjective after the noun and English before it.

    python experiments/crossing.py runs/spanish

Every noun with every adjective below, in a sentence like "La casa blanca es muy grande." Those are counted whose answer
has the two English words beside each other: does the adjective look at the adjective more than at the noun, and the
noun at the noun?
"""

import argparse
import sys
from collections.abc import Iterator
from statistics import mean

import regard
from regard.core.prediction import AttentionRecord

NOUNS = {
    "la casa": "house",
    "el coche": "car",
    "el perro": "dog",
    "el gato": "cat",
    "la mesa": "table",
    "el libro": "book",
    "la flor": "flower",
    "la puerta": "door",
    "la camisa": "shirt",
    "el vestido": "dress",
    "el caballo": "horse",
    "la pelota": "ball",
}
ADJECTIVES = {  # as they follow "el" and "la"
    ("blanco", "blanca"): "white",
    ("negro", "negra"): "black",
    ("rojo", "roja"): "red",
    ("amarillo", "amarilla"): "yellow",
    ("azul", "azul"): "blue",
    ("verde", "verde"): "green",
    ("nuevo", "nueva"): "new",
    ("viejo", "vieja"): "old",
}


def phrases() -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """A sentence, its noun and adjective, and theirs in English."""
    for words, noun in NOUNS.items():
        article, spanish = words.split()
        for forms, adjective in ADJECTIVES.items():
            form = forms[article == "la"]
            sentence = f"{article.capitalize()} {spanish} {form} es muy grande."
            yield sentence, (spanish, form), (noun, adjective)


def looks(record: AttentionRecord, spanish: tuple[str, str], english: tuple[str, str]) -> list[list[float]]:
    """How much the English noun, then the adjective, looks at the Spanish noun and adjective; empty where the answer
    does not say them beside each other.
    """
    words = record.in_words()
    noun, adjective = english
    said = [piece.strip(".,").lower() for piece in words.target_pieces]
    if noun not in said or said[said.index(noun) - 1] != adjective:
        return []
    place = said.index(noun)
    there = [words.source_pieces.index(word) for word in spanish]
    weights = words.cross()
    return [[float(weights[row, column]) for column in there] for row in (place, place - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("run")
    model = regard.load(parser.parse_args().run)
    asked = list(phrases())
    answers = model.predict([sentence for sentence, _, _ in asked])
    found = [
        (answer.source, seen)
        for answer, (_, spanish, english) in zip(answers, asked, strict=True)
        if (seen := looks(answer.attention, spanish, english))
    ]
    if not found:
        raise SystemExit("No answer says the adjective and the noun beside each other.")
    crossing = [noun[0] > noun[1] and adjective[1] > adjective[0] for _, (noun, adjective) in found]
    lines = [
        f"{len(found)} of {len(asked)} answers say adjective and noun; {sum(crossing)} of them cross over",
        f"noun to noun {mean(noun[0] for _, (noun, _) in found):.2f}, "
        f"adjective to adjective {mean(adjective[1] for _, (_, adjective) in found):.2f}, "
        f"adjective to noun {mean(adjective[0] for _, (_, adjective) in found):.2f}",
        *(
            f"does not: {sentence} noun to noun {noun[0]:.2f}, adjective to adjective {adjective[1]:.2f}"
            for (sentence, (noun, adjective)), crosses in zip(found, crossing, strict=True)
            if not crosses
        ),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
