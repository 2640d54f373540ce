-- One row per critic's answer, model that judged it, and rubric: the latest judgement of the answer that the records have.
with
critic_answers as (
    select condition, env, variant, run, iteration, sha256(answer) as answer_sha256
    from critic_answers
),

noted as (
    select *
    from read_json(
        getvariable('judgement_file'),
        format = 'newline_delimited',
        maximum_object_size = 67108864,
        columns = {
            ordinal: 'bigint',
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            answer_sha256: 'varchar',
            model: 'varchar',
            driver: 'varchar',
            sentence: 'varchar',
            quoted: 'boolean',
            mentions_worst: 'boolean',
            discounts_worst: 'boolean',
            error: 'varchar',
            rubric: 'varchar',
            rubric_sha256: 'varchar',
            category: 'varchar'
        }
    )
),

latest as (
    select noted.*
    from noted
    join critic_answers using (condition, env, variant, run, iteration, answer_sha256)
    qualify
        row_number() over (
            partition by condition, env, variant, run, iteration, model, rubric_sha256
            order by ordinal desc
        ) = 1
),

latest_judgements as (select * exclude (ordinal, answer_sha256) from latest)

select * from latest_judgements
