-- One row is an item of a prompt that shows several: a rollout, a scored example, or another candidate.
-- key: condition, env, variant, run, iteration, place
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

mentioned as (
    select
        condition, env, variant, run, iteration,
        flatten(list(labels)) as labels,
        flatten(list(rollouts)) as rollouts
    from mentions
    where part = 'answer'
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
)

select
    condition, env, variant, run, iteration,
    evidence_kind,  --: three, batch, pair, programs
    place,
    items,  --: how many the prompt shows
    coalesce(name, label) as name,  --: its heading, or its label
    score,  --: as shown, or null
    parent_score,  --: mean score of the candidate that is revised
    if(
        answer is null,
        null,
        unless_foreign(
            coalesce(list_contains(labels, label), false) or coalesce(list_contains(rollouts, rollout), false), answer
        )
    ) as cited,  --: whether the answer mentions it; null where no answer, or no rationale, is recorded
    similarity_before,  --: of another candidate: share of tokens that its text has in common with the text before the
    --: revision, 2|A ∩ B| / (|A| + |B|); null where a text is not known
    similarity_after,
    -- What the text was already it cannot move towards.
    if(similarity_before = 1, null, similarity_after - similarity_before) as gain
    --: similarity_after - similarity_before: how far the text moves towards it; null where it has the same tokens as
    --: the text before
from named
left join critic_answers using (condition, env, variant, run, iteration)
left join mentioned using (condition, env, variant, run, iteration)
left join imitations using (condition, env, variant, run, iteration, place)
