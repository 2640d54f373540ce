"""An attack on every command: all is drawn from one seed, and each failure is reported with how to see it again."""
