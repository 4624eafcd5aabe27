"""Training that starts from a model which was trained before."""

from collections.abc import Sequence
from hashlib import blake2b, file_digest
from pathlib import Path

from regard.build.codecs import load_codec
from regard.build.networks import load_model
from regard.config import Config, Origin, load_config
from regard.config.data import Multilingual
from regard.core.errors import UserError
from regard.models import Seq2Seq
from regard.run import ModelFolder, find_model
from regard.tasks.codec import Codec
from regard.tasks.examples import Examples


def config_from(
    recipe: str | Path, changes: Sequence[str], start: str | Path, *, earlier: Config | None = None
) -> Config:
    """A recipe or a file whose model and pieces are those of another run.

    `earlier` is the configuration of a run that has begun: if it came from the same place, that need not be there
    any more.
    """
    if earlier is not None and earlier.origin is not None and earlier.origin.run == str(start):
        return load_config(recipe, changes, start=(earlier.origin, earlier))
    folder = find_model(start)
    origin = Origin(run=str(start), weights=_fingerprint(folder))
    return load_config(recipe, changes, start=(origin, folder.config()))


class Start:
    """The model that a training begins with."""

    def __init__(self, origin: Origin):
        self.origin = origin
        self.folder = find_model(origin.run)
        self.config = self.folder.config()
        if _fingerprint(self.folder) != origin.weights:
            raise UserError(
                f"{origin.run} has other weights than when this run was begun. Bring them back, or start again in "
                "another folder with --run."
            )

    def codec(self, config: Config, examples: Examples) -> Codec:
        """Its pieces, with the new limits; a UserError where the new pairs ask for tags that it does not know."""
        self._check_task(config)
        codec = load_codec(config, self.folder)
        known = {
            "languages to answer in": (examples.languages, codec.languages),
            "languages": (_sources(config), {*_sources(self.config), *codec.languages}),
            "marks": (examples.marks, codec.marks),
        }
        for what, (asked, there) in known.items():
            if unknown := [name for name in asked if name not in there]:
                raise UserError(
                    f"{unknown[0]!r} is none of the {what} that {self.origin.run} was trained with "
                    f"({', '.join(sorted(there)) or 'none'}). Leave it out, or train a new model without --from."
                )
        return codec

    def model(self, config: Config, codec: Codec) -> Seq2Seq:
        try:
            return load_model(config, self.folder, codec)
        except UserError as error:
            if config.longest == self.config.longest:
                raise
            data = self.config.data
            raise UserError(
                f"{self.origin.run} knows {self.config.longest} positions, but data.max_source, data.max_target and "
                f"search.max_length let {config.longest} come up. Set them as there: {data.max_source}, "
                f"{data.max_target} and {self.config.search.max_length}."
            ) from error

    def _check_task(self, config: Config) -> None:
        if config.task.name != self.config.task.name:
            raise UserError(
                f"{self.origin.run} was trained for the task {self.config.task.name}, not {config.task.name}. "
                f"Set task.name to {self.config.task.name}, or train a new model without --from."
            )


def _sources(config: Config) -> list[str]:
    task = config.task
    if not isinstance(task, Multilingual):
        return []
    both = [(one.source_language, one.target_language if one.both else None) for one in task.corpora]
    return sorted({language for languages in both for language in languages if language})


def _fingerprint(folder: ModelFolder) -> str:
    with folder.weights_path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
