"""What policies do, not what is said of them: recorded policies run again, on other seeds or changed at random."""
