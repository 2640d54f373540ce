"""An attack on every command: what it tries is drawn from one seed, what it finds is told with the way to see it again."""
