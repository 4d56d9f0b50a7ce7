"""The leaderboard: static pages that need no network and say what differs."""
