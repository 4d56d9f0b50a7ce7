"""A plan in a folder of its own, answered by a server of ours."""

from generate_fixtures import english, korean, own_cache, plan_of, server

__all__ = ["english", "korean", "own_cache", "plan_of", "server"]
