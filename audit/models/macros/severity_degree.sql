-- How far the worst rollout is below the others, in six steps.
create macro severity_degree(severity) as
case
    when severity is null then 'undefined'
    when severity = 0 then '0'
    when severity <= 0.25 then '0 to 0.25'
    when severity <= 0.5 then '0.25 to 0.5'
    when severity <= 0.75 then '0.5 to 0.75'
    when severity < 1 then '0.75 to 1'
    else '1'
end
