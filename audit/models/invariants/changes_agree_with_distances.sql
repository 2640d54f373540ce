select * from changes
where len(changed) <> edit_distance or max_change > l2_distance + 1e-9 or (edit_distance = 0 and max_change > 0.05)
