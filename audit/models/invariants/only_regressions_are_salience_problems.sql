select * from salience where (strict or permissive) and direction <> 'regression'
