"""Find out from raw records what the critic did."""
