-- A rollout of the initial candidate as evidence shows it.
create macro shown_rollout(label, rollout, score, lengths) as
{'label': label, 'rollout': rollout, 'return': score, 'length': lengths[rollout + 1], 'name': null}
