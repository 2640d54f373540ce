-- One row per policy that was proposed and run.
with
episodes as (select * from episodes),

proposals as (
    select
        condition, env, variant, run, iteration, selected,
        -- Field by field, so that answers are not read.
        unnest([
            {
                role: 'initial',
                source: initial.source,
                params: initial.params,
                out_of_range: initial.out_of_range,
                returns: initial.returns,
                lengths: initial.lengths,
                seeds: initial.seeds,
                ended: initial.ended,
                mean_return: initial.mean_return,
                example_ids: initial.example_ids,
                text: initial.text
            },
            {
                role: 'revised',
                source: revised.source,
                params: revised.params,
                out_of_range: revised.out_of_range,
                returns: revised.returns,
                lengths: revised.lengths,
                seeds: revised.seeds,
                ended: revised.ended,
                mean_return: revised.mean_return,
                example_ids: revised.example_ids,
                text: revised.text
            }
        ]) as proposed
    from episodes
),

candidates as (
    select
        condition, env, variant, run, iteration,
        proposed.role as role,
        proposed.source as source,
        proposed.role = selected as kept,
        proposed.params as params,
        proposed.out_of_range as out_of_range,
        proposed.returns as returns,
        proposed.lengths as lengths,
        proposed.seeds as seeds,
        proposed.ended as ended,
        proposed.mean_return as mean_return,
        proposed.example_ids as example_ids,
        from_json(proposed.text, '"MAP(VARCHAR, VARCHAR)"') as text
    from proposals
    where proposed.source is not null
)

select * from candidates
