"""Behaviour: what the answers do when they are run on the same inputs, in a sandbox."""
