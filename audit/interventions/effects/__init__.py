"""What an experiment shows: effects of what was changed, against chance and against placebos."""
