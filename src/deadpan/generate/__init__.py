"""Sarcastic dialogues from language models: written, filtered, judged by people, released."""
