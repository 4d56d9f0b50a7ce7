"""The playground page and the HTTP service: detectors and language models behind one address."""
