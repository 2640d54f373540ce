select * from evidence
where severity not between 0 and 1 or (severity is null) <> (structure = 'identical')
