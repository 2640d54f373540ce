"""Run reflective policy search with language models and keep raw records."""
