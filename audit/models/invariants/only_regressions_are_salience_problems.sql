select * from salience_criteria where (strict or permissive) and direction <> 'regression'
