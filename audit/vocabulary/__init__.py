"""Names and thresholds that everything else shares."""
