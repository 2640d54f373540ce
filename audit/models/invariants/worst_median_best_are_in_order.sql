select * from evidence where worst > median or median > best
