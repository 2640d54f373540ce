-- One row is a known task.
-- key: env
-- The thresholds are for logs that carry none.
--: env
--: origin: authors or project
--: policy: linear or tabular
--: parameters: how many
--: floor: return of a policy that achieves nothing
--: partial: r0 above which a policy works in part
--: high: r0 above which a policy works well
--: near_zero: distance from the floor
--: meaningful: size of a delta
--: surgical_max: at most so many changed parameters are a small edit
--: redesign_min: at least so many are a new policy
--: multi_state_min: at least so many are an edit in several places
select unnest(
    from_json(
        getvariable('presets'),
        '[{
            "env": "VARCHAR", "origin": "VARCHAR", "policy": "VARCHAR", "parameters": "BIGINT", "floor": "DOUBLE",
            "partial": "DOUBLE", "high": "DOUBLE", "near_zero": "DOUBLE", "meaningful": "DOUBLE",
            "surgical_max": "BIGINT", "redesign_min": "BIGINT", "multi_state_min": "BIGINT"
        }]'
    ),
    recursive := true
)
