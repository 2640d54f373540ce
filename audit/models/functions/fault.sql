-- What is wrong with a candidate, whose name is `role`; null where it is sound or is not there.
create macro fault(role, candidate, rollouts, precision_of_mean) as
case
    when candidate is null then null
    when len(candidate.params) = 0 and candidate.source <> 'baseline' then role || '.params is empty'
    when len(candidate.returns) = 0 then role || '.returns is empty'
    when len(candidate.lengths) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.lengths) || ' lengths'
    when len(candidate.seeds) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.seeds) || ' seeds'
    when len(candidate.ended) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.ended) || ' ended'
    when len(candidate.example_ids) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.example_ids) || ' example_ids'
    when candidate.params is not null and candidate.text is not null then role || ' has params and text'
    when len(candidate.returns) <> rollouts
        then role || ' has ' || len(candidate.returns) || ' returns where the run has ' || rollouts || ' rollouts'
    when not abs(candidate.mean_return - list_avg(candidate.returns))
        <= precision_of_mean * greatest(1, abs(candidate.mean_return))
        then role || '.mean_return is ' || candidate.mean_return || ' where its returns have mean ' || list_avg(candidate.returns)
end
