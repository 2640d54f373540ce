-- One row per policy that was proposed and run.
with
episodes as (select * from episodes),

proposals as (
    select
        condition, env, variant, run, iteration, selected,
        unnest([{role: 'initial', proposal: initial}, {role: 'revised', proposal: revised}]) as proposed
    from episodes
),

candidates as (
    select
        condition, env, variant, run, iteration,
        proposed.role as role,
        proposed.proposal.source as source,
        proposed.role = selected as kept,
        proposed.proposal.params as params,
        proposed.proposal.out_of_range as out_of_range,
        proposed.proposal.returns as returns,
        proposed.proposal.lengths as lengths,
        proposed.proposal.seeds as seeds,
        proposed.proposal.ended as ended,
        proposed.proposal.mean_return as mean_return,
        proposed.proposal.example_ids as example_ids,
        from_json(proposed.proposal.text, '"MAP(VARCHAR, VARCHAR)"') as text
    from proposals
    where proposed.proposal is not null
)

select * from candidates
