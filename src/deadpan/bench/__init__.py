"""SarcBench: questions about what a speaker means, put to any language model, and a leaderboard to trust."""
