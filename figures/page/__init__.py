"""The page of all figures, and the files it is made of."""
