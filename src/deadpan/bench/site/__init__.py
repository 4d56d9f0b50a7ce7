"""The leaderboard: static pages that need no network."""
