"""The commands of `audit`, a module for each kind; `audit.cli` assembles them."""
