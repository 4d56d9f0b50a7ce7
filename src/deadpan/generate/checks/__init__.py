"""Checks a dialogue must pass before people see it."""
