"""SarcBench's second track: real replies of people, of which one was meant sarcastically."""

from deadpan.bench.organic.detectors import names_of
from deadpan.bench.organic.track import organic_set, run_organic

__all__ = ["names_of", "organic_set", "run_organic"]
