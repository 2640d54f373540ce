-- One row is a run, by what its edit patterns are judged by, sizes of edits of texts included.
-- key: condition, env, variant, run
-- cached
-- The user's settings override what the run carries, which overrides the preset of its task. Thresholds of texts are
-- shares of the range of scores, which is 0 to 1 where the run states no other.
with
run_records as (select *, coalesce(candidates = 'text', false) as is_text from run_records),

chosen as (
    select
        r.condition, r.env, r.variant, r.run,
        if(is_text, 'text', coalesce(p.policy, if(r.step_size is null, 'tabular', 'linear'))) as policy,
        if(is_text, coalesce(r.score_range[1], 0), 0) as lowest,
        if(is_text, coalesce(r.score_range[2] - r.score_range[1], 1), 1) as span,
        getvariable('text_preset') as text,
        if(is_text, first_thresholds(o, text, text), first_thresholds(o, r.thresholds, p)) as t,
        case
            when o.env is not null then 'user'
            when is_text then 'project'
            else coalesce(r.thresholds.origin, p.origin)
        end as origin
    from run_records as r
    left join presets as p on p.env = r.env
    left join overrides as o on o.env = case when is_text then 'text' when r.env <> 'text' then r.env end
)

select
    condition, env, variant, run,
    policy,  --: linear, tabular or text
    lowest + span * t.floor as floor,
    lowest + span * t.partial as partial,
    lowest + span * t.high as high,
    span * t.near_zero as near_zero,
    span * t.meaningful as meaningful,
    t.surgical_max::double as surgical_max,  --: changed parameters, or an edit ratio
    t.redesign_min::double as redesign_min,  --: the same
    t.multi_state_min::double as multi_state_min,  --: the same
    origin  --: authors, project, user, or what run.json says
from chosen
