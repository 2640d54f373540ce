"""How far results can be trusted: hand coding and calibration."""
