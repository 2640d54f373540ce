-- One row per item of a prompt that shows several: its place and score, whether the rationale cites it, and how far the
-- revision moves towards its text.
with
episodes as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        initial.mean_return as parent_score,
        shown
    from episodes
    where revised.source is not null and len(shown) > 1 and evidence_kind in ('three', 'batch', 'pair', 'programs')
),
answers_to_several as (select condition, env, variant, run, iteration, answer from answers_to_several),
shown_mentions as (
    select condition, env, variant, run, iteration, labels, rollouts
    from shown_mentions
    where part = 'answer'
),
imitations as (select * from imitations),

mentioned as (
    select
        condition, env, variant, run, iteration,
        flatten(list(labels)) as labels,
        flatten(list(rollouts)) as rollouts
    from shown_mentions
    group by all
),

placed as (select *, unnest(range(1, len(shown) + 1)) as place from episodes),

named as (
    select
        * exclude (shown),
        len(shown) as items,
        shown[place].name as name,
        shown[place].rollout as rollout,
        shown[place]."return" as score,
        -- As mentions point at it.
        if(shown[place].label = 'item', lower(coalesce(name, concat('item ', place))), shown[place].label) as label
    from placed
),

shown_items as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        place,
        items,
        coalesce(name, label) as name,
        score,
        parent_score,
        if(
            answer is null,
            null,
            unless_foreign(
                coalesce(list_contains(labels, label), false) or coalesce(list_contains(rollouts, rollout), false), answer
            )
        ) as cited,
        similarity_before,
        similarity_after,
        -- What the text was already it cannot move towards.
        if(similarity_before = 1, null, similarity_after - similarity_before) as gain
    from named
    left join answers_to_several using (condition, env, variant, run, iteration)
    left join mentioned using (condition, env, variant, run, iteration)
    left join imitations using (condition, env, variant, run, iteration, place)
)

select * from shown_items
