#!/usr/bin/env bash
# One text, a batch and a conversation with curl. Start the service first: deadpan serve
set -eu
url=${DEADPAN_URL:-http://127.0.0.1:8080}
send() { curl -sS --fail-with-body "$url/v1/detect" -H 'content-type: application/json' -d "$1"; echo; }

send '{"text": "Great, another Monday.", "explain": true}'
send '{"texts": ["Great, another Monday.", "The bus leaves at nine."]}'
send '{"conversation": [{"speaker": "A", "text": "I never switched the oven on."},
                        {"speaker": "B", "text": "Room temperature it is, the traditional way."}]}'
