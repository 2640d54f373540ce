-- One row is a revision, by the rollouts of its initial candidate, or by the items shown where these are a batch or a
-- pair.
-- key: condition, env, variant, run, iteration
-- cached
-- The sample median is the middle value, of an even number the mean of the middle two. The median rollout is the one
-- whose return is closest to it, of equals the first. Items are compared with the sample median itself, and the median
-- item is the first that has it, if one does. Two items have no median: there the worst is compared with the best.
with
revised_episodes as (
    select
        condition, env, variant, run, iteration,
        evidence_kind in ('batch', 'pair') as are_items,
        if(are_items, list_transform(shown, lambda each: each."return"), initial.returns) as returns,
        shown,
        list_transform(shown, lambda each: each.label) as labels,
        rounding
    from episodes
    where revised.source is not null
),

sorted as (
    select *, list_sort(returns) as ordered
    from revised_episodes
    -- An item without a score leaves it open which is the worst.
    where len(returns) > 0 and list_count(returns) = len(returns)
),

centred as (
    select
        *,
        (ordered[(len(ordered) + 1) // 2] + ordered[len(ordered) // 2 + 1]) / 2 as sample_median,
        are_items and len(returns) = 2 as is_pair
    from sorted
),

located as (
    select
        *,
        list_position(returns, ordered[1]) as worst_position,
        list_position(returns, ordered[-1]) as best_position,
        list_transform(returns, lambda r: abs(r - sample_median)) as distances,
        case
            when is_pair then null
            when are_items then list_position(list_transform(distances, lambda d: d <= rounding), true)
            else list_position(distances, list_min(distances))
        end as median_position
    from centred
),

chosen as (
    select
        condition, env, variant, run, iteration,
        is_pair,
        rounding,
        len(returns) as items,
        list_count(list_filter(returns, lambda r: r - ordered[1] <= rounding)) = 1 as worst_unique,
        if(are_items, shown[worst_position].rollout, worst_position - 1) as worst_rollout,
        if(are_items, shown[median_position].rollout, median_position - 1) as median_rollout,
        if(are_items, shown[best_position].rollout, best_position - 1) as best_rollout,
        returns[worst_position] as worst,
        case when is_pair then null when are_items then sample_median else returns[median_position] end as median,
        returns[best_position] as best,
        if(are_items, worst_position, list_position(labels, 'worst')) as worst_place,
        if(are_items, median_position, list_position(labels, 'median')) as median_place,
        if(are_items, best_position, list_position(labels, 'best')) as best_place,
        if(worst_place > 0, coalesce(shown[worst_place].name, 'worst'), null) as worst_name,
        if(median_place > 0, coalesce(shown[median_place].name, 'median'), null) as median_name,
        if(best_place > 0, coalesce(shown[best_place].name, 'best'), null) as best_name
    from located
),

compared as (
    select
        *,
        if(is_pair, best, median) - worst > rounding as worst_below_median,
        best - median > rounding as median_below_best,
        -- Of three, where two of them differ: the sum of two differences that are rounding is no difference.
        if(is_pair, best - worst > rounding, worst_below_median or median_below_best) as worst_below_best
    from chosen
)

select
    condition, env, variant, run, iteration,
    worst_rollout,
    --: index of the smallest return among those of the initial candidate; null where the item shown is none of them
    median_rollout,  --: index of the return closest to the sample median; of a batch, of the first item that has the
    --: sample median, null if none does, and of two
    best_rollout,  --: index of the largest return
    worst,  --: return of the worst rollout
    median,  --: return of the median rollout; of a batch the sample median, of an even number the mean of the middle
    --: two; null of two
    best,  --: return of the best rollout
    worst_place,
    --: among the rollouts shown, from 1, in the order of display; null if it was not shown under this label
    median_place,  --: the same
    best_place,  --: the same
    worst_name,  --: heading under which it was shown: its label, where the record names no other; null if it was not
    --: shown under this label
    median_name,  --: the same
    best_name,  --: the same
    worst_below_median,  --: by more than rounding, a column of episodes; of two, whether they differ
    median_below_best,  --: by more than rounding
    worst_below_best,  --: by more than rounding
    case
        when not worst_below_best then null
        when not worst_below_median then 0
        when not median_below_best then 1
        else (median - worst) / (best - worst)
    end as severity,  --: (median - worst) / (best - worst); null where they are equal, and of two
    case
        when is_pair and worst_below_best then null
        when worst_below_median and median_below_best then 'all_diverse'
        when worst_below_median then 'preservation_favored'
        when median_below_best then 'failure_confirmed'
        else 'identical'
    end as structure,  --: failure_confirmed, preservation_favored, all_diverse, identical; null of two that differ
    items,  --: how many rollouts or items are compared
    worst_unique  --: whether no other has the smallest return, but for rounding
from compared
