"""Where texts came from: pools of candidates, their parents, and whose sentences they hold."""
