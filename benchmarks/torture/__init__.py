"""An attack on every command: all of it is drawn from one seed, and each failure is told with how to see it again."""
