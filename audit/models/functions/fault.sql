-- What is wrong with a candidate, whose name is `role`; null where it is sound or is not there.
-- Records of `collect` have every field; other logs, imported or read in place, may not say.
create macro fault(role, candidate, is_native, rollouts, precision_of_mean) as
case
    when candidate is null then null
    when candidate.params is null and is_native then role || '.params is missing or no list of numbers'
    when candidate.returns is null and is_native then role || '.returns is missing or no list of numbers'
    when candidate.lengths is null and is_native then role || '.lengths is missing or no list of whole numbers'
    when candidate.mean_return is null or not isfinite(candidate.mean_return)
        then role || '.mean_return is missing or not a number'
    when candidate.source is null then role || '.source is missing'
    when candidate.out_of_range is null and is_native then role || '.out_of_range is missing'
    when candidate.answer is null and is_native then role || '.answer is missing'
    when candidate.ended is null and is_native then role || '.ended is missing'
    when candidate.source not in ('search', 'critic', 'baseline')
        then role || '.source is neither search nor critic nor baseline'
    when len(candidate.params) = 0 and candidate.source <> 'baseline' then role || '.params is empty'
    when len(candidate.returns) = 0 then role || '.returns is empty'
    -- Not a number is the largest of all numbers to DuckDB, so the extremes tell of every entry.
    when list_count(candidate.params) < len(candidate.params)
        or not isfinite(list_min(candidate.params)) or not isfinite(list_max(candidate.params))
        then role || '.params holds something that is not a finite number'
    when list_count(candidate.returns) < len(candidate.returns)
        or not isfinite(list_min(candidate.returns)) or not isfinite(list_max(candidate.returns))
        then role || '.returns holds something that is not a finite number'
    when len(candidate.lengths) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.lengths) || ' lengths'
    when len(candidate.seeds) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.seeds) || ' seeds'
    when len(candidate.ended) <> len(candidate.returns)
        then role || ' has ' || len(candidate.returns) || ' returns and ' || len(candidate.ended) || ' endings'
    when len(candidate.returns) <> rollouts
        then role || ' has ' || len(candidate.returns) || ' returns where the run has ' || rollouts || ' rollouts'
    when not abs(candidate.mean_return - list_avg(candidate.returns))
        <= precision_of_mean * greatest(1, abs(candidate.mean_return))
        then role || '.mean_return is ' || candidate.mean_return || ' where its returns have mean ' || list_avg(candidate.returns)
end
