-- One row is a task whose thresholds the user changed; null where they did not.
-- key: env
-- internal
--: env, floor, partial, high, near_zero, meaningful, surgical_max, redesign_min, multi_state_min
select unnest(
    from_json(
        getvariable('overrides'),
        '[{
            "env": "VARCHAR", "floor": "DOUBLE", "partial": "DOUBLE", "high": "DOUBLE", "near_zero": "DOUBLE",
            "meaningful": "DOUBLE", "surgical_max": "DOUBLE", "redesign_min": "DOUBLE", "multi_state_min": "DOUBLE"
        }]'
    ),
    recursive := true
)
