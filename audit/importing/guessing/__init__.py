"""Mappings of logs, guessed: `audit import --guess`.

A sample of the rows (`sample`) gives columns with shapes (`columns`). Tables of words (`words`) and what the values
prove decide which column is which field: candidates before and after (`pairs`, `candidates`), what was kept
(`keeping`), what was shown (`showing`), runs and iterations (`identity`). What is decided goes with its reason into a
draft (`draft`); what is not becomes a question. `guess` puts this together, and `toml` writes the mapping.
"""
