"""Tables made of runs."""
