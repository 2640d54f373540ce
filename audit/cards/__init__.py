"""Examinations of critics: a fixed suite of prompts, the card of a model that answered them, and cards side by side."""
