-- One row is a revision that a critic answered for, by what it wrote.
-- key: condition, env, variant, run, iteration
select
    condition, env, variant, run, iteration,
    if(
        revised.text is null and initial.text is null,
        revised.answer,
        rationale(revised.answer, revised.text)
    ) as answer,  --: what it wrote; of an answer that proposes a text, what is beside it
    revised.thinking as thinking,  --: or null
    shown,  --: the rollouts that the critic was shown, as recorded, in the order of display
    initial.returns as returns,  --: of the initial candidate
    initial.lengths as lengths,  --: of the initial candidate
    statistics,  --: that the critic was shown, or null
    rounding  --: as in episodes
from episodes
where revised.source = 'critic' and revised.answer is not null and answer is not null
