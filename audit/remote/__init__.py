"""Records elsewhere: URLs as paths, and the copies of what they name on this machine."""
