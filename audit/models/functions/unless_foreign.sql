-- Whether an answer cites, as one of the audit's own detectors finds: null where it finds nothing in another language than English.
create macro unless_foreign(cites, answer) as
case when cites then true when is_foreign(answer) then null else cites end
