select * from salience where strict and not permissive
