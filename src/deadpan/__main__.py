"""`python -m deadpan` is the command line."""

from deadpan.cli import main

main()
