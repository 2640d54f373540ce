select * from summary where regressions + improvements + no_change <> revisions
