"""The web application: addresses, pages, settings, security and the server."""
