select * from salience_criteria where strict and not permissive
