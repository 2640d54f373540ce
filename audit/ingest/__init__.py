"""From files to columns: checks, segments, and what is kept between audits."""
