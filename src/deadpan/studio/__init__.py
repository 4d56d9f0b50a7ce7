"""The web application for studies with people. Its modules need Django."""
