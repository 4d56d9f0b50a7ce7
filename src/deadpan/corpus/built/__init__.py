"""A finished corpus read back: conversations, verification, studies for people, and figures."""
