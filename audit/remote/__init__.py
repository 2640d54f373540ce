"""Records elsewhere: URLs as paths, copies of folders and archives, packs read by ranges, and uploads of packs."""
