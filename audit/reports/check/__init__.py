"""What a data set has and lacks, and which commands it supports: `audit check`."""
