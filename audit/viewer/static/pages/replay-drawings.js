"use strict";

// The project's drawings of tasks: a state as lines and circles, from the observations and actions of a rollout.
const ReplayDrawings = (() => {
  const NAMESPACE = "http://www.w3.org/2000/svg";

  function shape(tag, attributes, text) {
    const node = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  const line = (x1, y1, x2, y2, kind) => shape("line", { x1, y1, x2, y2, class: kind });
  const rectangle = (x, y, width, height, kind) => shape("rect", { x, y, width, height, class: kind });
  const circle = (cx, cy, r, kind) => shape("circle", { cx, cy, r, class: kind });
  const path = (points, kind) => shape("polyline", { points: points.map((each) => each.join(",")).join(" "), class: kind });
  const words = (x, y, text, kind = "replay-words") => shape("text", { x, y, class: kind }, text);

  // An arrow from a point by (dx, dy); none where nothing acts.
  function arrow(x, y, dx, dy) {
    const length = Math.hypot(dx, dy);
    if (length < 1) return [];
    const [ux, uy] = [dx / length, dy / length];
    const [endX, endY] = [x + dx, y + dy];
    const head = [[endX - 7 * ux + 5 * uy, endY - 7 * uy - 5 * ux], [endX, endY], [endX - 7 * ux - 5 * uy, endY - 7 * uy + 5 * ux]];
    return [line(x, y, endX, endY, "replay-force"), path(head, "replay-force")];
  }

  // The action that follows a state; the last state has none.
  const actionAt = (policy, state) => (state < policy.actions.length ? policy.actions[state] : null);
  const forceAt = (policy, state) => {
    const action = actionAt(policy, state);
    return action === null ? 0 : [action].flat()[0];
  };

  function cart(policy, state, { poles, reach, force }) {
    const x = 100 * policy.observations[state][0];
    const shapes = [line(-reach, 0, reach, 0, "replay-ground"), line(-reach, -8, -reach, 8, "replay-limit"), line(reach, -8, reach, 8, "replay-limit")];
    shapes.push(rectangle(x - 22, -12, 44, 24, "replay-body"));
    let [fromX, fromY] = [x, -12];
    for (const [sine, cosine, length] of poles(policy.observations[state])) {
      const [toX, toY] = [fromX + length * sine, fromY - length * cosine];
      shapes.push(line(fromX, fromY, toX, toY, "replay-limb"), circle(fromX, fromY, 3, "replay-joint"));
      [fromX, fromY] = [toX, toY];
    }
    return [...shapes, ...arrow(x, 26, force(policy, state), 0)];
  }

  function hill(flag) {
    const at = (position) => [100 * position, -100 * (0.45 * Math.sin(3 * position) + 0.55)];
    const ground = Array.from({ length: 91 }, (_, each) => at(-1.2 + each * 0.02));
    return (policy, state, push) => {
      const [x, y] = at(policy.observations[state][0]);
      const [flagX, flagY] = at(flag);
      return [
        path(ground, "replay-ground"),
        line(flagX, flagY, flagX, flagY - 22, "replay-limit"),
        shape("polygon", { points: `${flagX},${flagY - 22} ${flagX + 12},${flagY - 17} ${flagX},${flagY - 12}`, class: "replay-goal" }),
        circle(x, y - 6, 6, "replay-body"),
        ...arrow(x, y - 20, push(policy, state), 0),
      ];
    };
  }

  // The opponent is in no observation. It moves by 5 towards where the ball is before each step, from the middle on.
  function opponents(policy) {
    const tops = [260];
    for (const [, , ball] of policy.observations.slice(0, -1)) {
      const top = tops.at(-1);
      tops.push(Math.min(Math.max(top + (top + 40 < ball ? 5 : -5), 0), 520));
    }
    return tops;
  }

  function pong(policy, state, tops) {
    const [centre, x, y] = policy.observations[state];
    return [
      rectangle(0, 0, 800, 600, "replay-field"),
      line(400, 0, 400, 600, "replay-faint"),
      rectangle(0, centre - 40, 10, 80, "replay-body"),
      rectangle(790, tops[state], 10, 80, "replay-other"),
      rectangle(x, y, 10, 10, "replay-ball"),
      ...arrow(30, centre, 0, [-40, 40, 0][actionAt(policy, state)] ?? 0),
    ];
  }

  // Cells of a square, numbered row by row; `moves` has the direction of each action.
  function grid(side, { walls = () => [], kinds = {}, moves }) {
    const centre = (cell) => [40 * (cell % side) + 20, 40 * Math.floor(cell / side) + 20];
    return (policy, state) => {
      const shapes = [];
      for (let cell = 0; cell < side * side; cell += 1) {
        const [x, y] = centre(cell);
        shapes.push(rectangle(x - 20, y - 20, 40, 40, `replay-cell ${kinds[cell] ?? ""}`));
        if (kinds[cell]) shapes.push(words(x, y + 16, kinds[cell].slice("replay-".length), "replay-words replay-small"));
      }
      shapes.push(...walls(centre), path(policy.observations.slice(0, state + 1).map(centre), "replay-trail"));
      const [x, y] = centre(policy.observations[state]);
      shapes.push(circle(x, y, 8, "replay-body"));
      const move = moves[actionAt(policy, state)];
      return move ? [...shapes, ...arrow(x, y, 22 * move[0], 22 * move[1])] : shapes;
    };
  }

  function mazeWalls(centre) {
    const passages = new Set(["0,1", "1,2", "2,5", "4,5", "0,3", "3,6", "6,7", "7,8"]);
    const shapes = [];
    for (let cell = 0; cell < 9; cell += 1) {
      const [x, y] = centre(cell);
      if (cell % 3 < 2 && !passages.has(`${cell},${cell + 1}`)) shapes.push(line(x + 20, y - 20, x + 20, y + 20, "replay-wall"));
      if (cell < 6 && !passages.has(`${cell},${cell + 3}`)) shapes.push(line(x - 20, y + 20, x + 20, y + 20, "replay-wall"));
    }
    return [...shapes, rectangle(0, 0, 120, 120, "replay-wall")];
  }

  function nim(policy, state) {
    const takers = [];
    for (let each = 0; each < state; each += 1) {
      const [before, after] = [policy.observations[each], policy.observations[each + 1]];
      const mine = Math.min(policy.actions[each], before);
      takers.push(...Array(mine).fill("replay-agent"), ...Array(Math.max(before - mine - after, 0)).fill("replay-opponent"));
    }
    const shapes = [];
    for (let stick = 0; stick < 10; stick += 1) {
      const taker = takers[stick];
      shapes.push(rectangle(14 + 22 * stick, taker ? 52 : 12, 8, 62, taker ?? "replay-stick"));
      if (taker) shapes.push(words(18 + 22 * stick, 128, taker === "replay-agent" ? "A" : "O"));
    }
    const action = actionAt(policy, state);
    shapes.push(words(120, 148, `${policy.observations[state]} left${action === null ? "" : `, the agent takes ${action}`}`));
    return shapes;
  }

  // Where the front link's hinge is: its velocity, added up over steps of 0.04 s.
  function travelled(policy) {
    const places = [[0, 0]];
    for (const observation of policy.observations.slice(1)) {
      const [x, y] = places.at(-1);
      places.push([x + 0.04 * observation[3], y + 0.04 * observation[4]]);
    }
    return places;
  }

  function swimmer(policy, state, places) {
    const [angle, first, second] = policy.observations[state];
    const [x, y] = places[state];
    const along = ([fromX, fromY], direction, length) => [fromX + length * Math.cos(direction), fromY + length * Math.sin(direction)];
    const joints = [along([x, y], angle, 1.5), along([x, y], angle, 0.5)];
    joints.push(along(joints[1], angle + first, -1));
    joints.push(along(joints[2], angle + first + second, -1));
    const seen = joints.map(([px, py]) => [60 * (px - x), -60 * py]);
    const shapes = [];
    for (let mark = Math.ceil(x - 3); mark <= x + 3; mark += 1) {
      shapes.push(line(60 * (mark - x), -120, 60 * (mark - x), 120, "replay-faint"), words(60 * (mark - x), 118, `${mark} m`));
    }
    shapes.push(path(seen, "replay-limb"), ...seen.slice(1, 3).map(([px, py]) => circle(px, py, 4, "replay-joint")));
    return [...shapes, circle(...seen[0], 5, "replay-body")];
  }

  // A task that has no drawing: each component of the observation over time, in its own range.
  function curves(policy, names) {
    const series = names.map((_, place) => policy.observations.map((each) => [each].flat()[place] ?? 0));
    const height = 150 / series.length;
    return series.map((values, place) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const y = (value) => height * (place + 0.85) - (high > low ? (0.7 * height * (value - low)) / (high - low) : 0.35 * height);
      return values.map((value, state) => [(240 * state) / Math.max(values.length - 1, 1), y(value)]);
    });
  }

  function plot(policy, state, lines, names) {
    const height = 150 / lines.length;
    const shapes = lines.flatMap((points, place) => [
      path(points, "replay-curve"),
      circle(...points[state], 3, "replay-body"),
      shape("text", { x: 2, y: height * place + 9, class: "replay-words replay-left" }, shown(names[place] ?? `component ${place}`)),
    ]);
    const x = lines[0][state][0];
    return [line(x, 0, x, 150, "replay-limit"), ...shapes];
  }

  const pushes = (distance) => (policy, state) => distance * forceAt(policy, state);
  const mountain = hill(0.5);
  const continuousMountain = hill(0.45);
  const pendulum = (angle) => [[Math.sin(angle), Math.cos(angle), 60]];

  // By Gymnasium's id: what a drawing shows, the box it is in, and its shapes; `prepare` is called once a rollout.
  const DRAWINGS = {
    "CartPole-v1": {
      about: "a pole on a cart; the track ends at the marks; the arrow is the push",
      box: [-260, -130, 520, 170],
      shapes: (policy, state) =>
        cart(policy, state, {
          poles: (seen) => [[Math.sin(seen[2]), Math.cos(seen[2]), 100]],
          reach: 240,
          force: () => ({ 0: -50, 1: 50 })[actionAt(policy, state)] ?? 0,
        }),
    },
    "InvertedPendulum-v5": {
      about: "a pole on a cart; the rail ends at the marks; the arrow is the force",
      box: [-130, -90, 260, 130],
      shapes: (policy, state) => cart(policy, state, { poles: (seen) => pendulum(seen[1]), reach: 100, force: pushes(16) }),
    },
    "InvertedDoublePendulum-v5": {
      about: "two poles on a cart; the rail ends at the marks; the arrow is the force",
      box: [-130, -150, 260, 190],
      shapes: (policy, state) =>
        cart(policy, state, {
          poles: ([, sine, relativeSine, cosine, relativeCosine]) => [
            [sine, cosine, 60],
            [sine * relativeCosine + cosine * relativeSine, cosine * relativeCosine - sine * relativeSine, 60],
          ],
          reach: 100,
          force: pushes(48),
        }),
    },
    "MountainCar-v0": {
      about: "a car in a valley; the flag is the goal; the arrow is the push",
      box: [-125, -130, 190, 135],
      shapes: (policy, state) => mountain(policy, state, () => [-22, 0, 22][actionAt(policy, state)] ?? 0),
    },
    "MountainCarContinuous-v0": {
      about: "a car in a valley; the flag is the goal; the arrow is the force",
      box: [-125, -130, 190, 135],
      shapes: (policy, state) => continuousMountain(policy, state, (...each) => 22 * Math.min(Math.max(forceAt(...each), -1), 1)),
    },
    "salience-audit/Pong-v0": {
      about: "the agent's paddle on the left; the opponent's, on the right, is computed from the ball",
      box: [-6, -6, 812, 612],
      prepare: opponents,
      shapes: pong,
    },
    "FrozenLake-v1": {
      about: "the agent on the ice, with its way so far; the arrow is the chosen direction, not where it slips",
      box: [-2, -2, 164, 164],
      shapes: grid(4, {
        kinds: { 0: "replay-start", 5: "replay-hole", 7: "replay-hole", 11: "replay-hole", 12: "replay-hole", 15: "replay-goal" },
        moves: [[-1, 0], [0, 1], [1, 0], [0, -1]],
      }),
    },
    "salience-audit/Maze-v0": {
      about: "the agent in the maze, with its way so far; the arrow is the chosen direction",
      box: [-3, -3, 126, 126],
      shapes: grid(3, { walls: mazeWalls, kinds: { 8: "replay-goal" }, moves: [[0, -1], [0, 1], [1, 0], [-1, 0]] }),
    },
    "salience-audit/Nim-v0": {
      about: "sticks left, and below those that the agent (A) and the opponent (O) took",
      box: [0, 0, 240, 156],
      shapes: nim,
    },
    "Swimmer-v5": {
      about: "the swimmer from above, its head marked; the picture moves with it, and its way is added up from its velocity",
      box: [-150, -125, 300, 250],
      prepare: travelled,
      shapes: swimmer,
    },
  };
  const PLOT = { about: "each component of the observation over time", box: [-4, -2, 248, 156], prepare: curves, shapes: plot };

  // The drawing of a task. A lake of a user's may have its holes elsewhere.
  function find({ task, gym_id: id }) {
    if (id === "FrozenLake-v1" && task !== "frozenlake") return PLOT;
    return DRAWINGS[id] ?? PLOT;
  }

  // An SVG element of a rollout under a policy, and a function that shows one of its states.
  function draw(replay, policy, label) {
    const drawing = find(replay);
    const names = replay.observation_names;
    const prepared = drawing.prepare ? drawing.prepare(policy, names) : null;
    const node = shape("svg", { viewBox: drawing.box.join(" "), class: "replay-drawing", role: "img", "aria-label": label });
    return { node, show: (state) => node.replaceChildren(...drawing.shapes(policy, state, prepared, names)) };
  }

  return { draw, about: (replay) => find(replay).about };
})();
