// Tries the orders in which events can happen: all of them if there are few, random ones otherwise.

import { World, idle } from "./browser.mjs";

/**
 * Run `scenario(choose)` once for every sequence of choices; `choose(options)` returns one of them.
 * Return the number of runs. Throws the first failure, with the events that led to it.
 */
export async function everyOrder(scenario, { limit = 20_000 } = {}) {
  let prefix = [];
  for (let runs = 1; runs <= limit; runs += 1) {
    const taken = [];
    await attempt(scenario, (options) => {
      const index = prefix[taken.length] ?? 0;
      taken.push([index, options.length]);
      return options[index];
    });
    while (taken.length && taken.at(-1)[0] + 1 === taken.at(-1)[1]) taken.pop();
    if (!taken.length) return runs;
    prefix = taken.map(([index]) => index);
    prefix[prefix.length - 1] += 1;
  }
  throw new Error(`There are more than ${limit} orders; make the scenario smaller.`);
}

/** Run `scenario(choose)` with the random choices of each seed. */
export async function randomOrders(scenario, seeds) {
  for (let seed = 1; seed <= seeds; seed += 1) {
    let state = seed * 2_654_435_761;
    const choose = (options) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return options[Math.floor((state / 2 ** 32) * options.length)];
    };
    await attempt(scenario, choose, `seed ${seed}`);
  }
}

async function attempt(scenario, choose, which = "") {
  const trace = [];
  const traced = (options) => {
    const option = options.length > 1 ? choose(options) : options[0];
    trace.push(option.name);
    return option;
  };
  try {
    await scenario(traced);
  } catch (error) {
    error.message += `\n\nThe events ${which}:\n  ${trace.join("\n  ")}\n`;
    throw error;
  }
}

/**
 * Let events happen in a chosen order, mixed with the actions of a person in their order, until
 * there are none. `isLate(event)` are those whose moment is chosen; the others happen at once.
 * `losses` requests or answers may be lost on their way. `check` runs after each event.
 */
export async function mix(choose, actions, { losses = 0, isLate = isSending, check } = {}) {
  const world = World.current;
  const script = [...actions];
  let left = losses;
  for (;;) {
    await world.settle((event) => !isLate(event));
    const events = world.enabled;
    const options = events.map((event) => ({ ...event, run: () => world.happen(event) }));
    for (const event of left ? events.filter((each) => each.request) : []) {
      options.push({ name: `${event.name}: lost`, run: () => lose(event), loss: 1 });
    }
    if (script[0]?.isReady?.() ?? script.length) options.unshift(script[0]);
    if (!options.length) return;
    const option = choose(options);
    if (option === script[0]) script.shift();
    left -= option.loss ?? 0;
    await option.run();
    check?.();
  }
}

/** What is sent to the server, its answers, and pages that are loading. */
export function isSending({ kind, name }) {
  return kind === "page" || name.includes("POST");
}

/** These, and items on their way. */
export function isRequest({ kind }) {
  return kind !== "storage";
}

/** Labels on their way, and rows that the browser is storing. */
export function isSlow(event) {
  return isSending(event) || event.name.endsWith("store a row");
}

async function lose(event) {
  event.request.lose();
  await idle();
}
