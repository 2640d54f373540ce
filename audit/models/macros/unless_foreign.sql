-- Whether an answer cites, as one of the audit's own detectors finds: null in another language than English, whatever
-- it finds there. To count what it finds and leave out the rest would make a rate of one.
create macro unless_foreign(cites, answer) as if(is_foreign(answer), null, cites)
