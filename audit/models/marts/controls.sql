-- One row is a condition, task, method and part of the range that its revisions start from, against the control's that
-- start there too.
-- key: condition, env, variant, start
-- cached
-- Computed by `audit/models/regressions.py`.
with
compared as (
    select
        condition, env,
        unnest(
            compare_with_control(list(start_counts))::struct(
                variant varchar,
                control varchar,  --: the method whose second proposal saw no evidence: puresearch, or the first by name
                --: that sends its prompt twice
                start varchar,  --: floor, low, partial, high; matched: all of them, the control's rates weighted with
                --: how often the method starts from each
                runs bigint,  --: the method's
                revisions bigint,  --: that start there
                regressions bigint,  --: of those
                regressions_pct double,  --: of revisions
                control_runs bigint,  --: the control's
                control_revisions bigint,  --: of the control that start there
                control_regressions bigint,  --: of those
                control_regressions_pct double,  --: of the control's revisions; in matched the mean of those by start,
                --: weighted with the method's revisions
                difference_pct double,  --: regressions_pct - control_regressions_pct
                difference_pct_low double,  --: end of the 95% interval, by bootstrap over the runs of both
                difference_pct_high double,
                citing bigint,  --: the method's revisions that start there and whose answer refers to what is asked
                --: about
                citing_regressions bigint,  --: of those
                citing_regressions_pct double,  --: of citing
                citing_difference_pct double,  --: citing_regressions_pct - the control's rate from the same starts; in
                --: matched weighted with how often citing revisions start from each
                citing_difference_pct_low double,  --: end of the 95% interval, by bootstrap over the runs of both
                citing_difference_pct_high double,
                rough varchar[]  --: columns whose interval fewer than five runs of either inform, too few to rely on it
            )[],
            max_depth := 2
        )
    from start_counts
    group by condition, env
)

select * from compared
order by condition, env, variant, list_position(['floor', 'low', 'partial', 'high', 'matched'], start)
