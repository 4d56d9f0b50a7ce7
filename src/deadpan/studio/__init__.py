"""The web app for people: annotate, tell, audit, take a benchmark. Django is needed from here on."""
