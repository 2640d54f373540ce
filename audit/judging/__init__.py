"""A model as judge: what a revision's main change is chiefly justified by, coded from the critic's answer alone."""
