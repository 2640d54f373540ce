"""When does an answer refer to what is asked about? The audit's own detectors, and those that users write."""
