"""Experiments on recorded prompts that revise texts: of GEPA, DSPy's GEPA and SIMBA, OpenEvolve and loops like them."""
