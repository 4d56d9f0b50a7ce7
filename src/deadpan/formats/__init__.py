"""File formats that two stages read or write, each parsed and written in one place."""
