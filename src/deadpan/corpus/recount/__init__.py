"""The rules again in plain Python, from the dumps: what `verify` and the tests compare a corpus with.

It shares no code with the engine but the names of files and columns, the tokenizer and the random draw.
"""
