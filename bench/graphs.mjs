// The graphs that the benches run: for each step the numbers of the steps it needs.

/** Shape name to a function of the number of steps. */
export const SHAPES = {
  independent: (count) => Array.from({ length: count }, () => []),
  chain: (count) => Array.from({ length: count }, (_, i) => (i === 0 ? [] : [i - 1])),
  /** Layers of 100; each step needs two of the layer before. */
  layered: (count) =>
    Array.from({ length: count }, (_, i) => {
      const layer = Math.floor(i / 100);
      if (layer === 0) return [];
      const first = (layer - 1) * 100;
      return [...new Set([first + (i % 100), first + ((i * 7 + 3) % 100)])];
    }),
  /** One source, a fan of 98, one sink, again and again. */
  diamond: (count) =>
    Array.from({ length: count }, (_, i) => {
      const at = i % 100;
      const first = i - at;
      if (at === 0) return i === 0 ? [] : [i - 1];
      const last = at === 99 || i === count - 1;
      return last && at > 1 ? Array.from({ length: at - 1 }, (_, k) => first + 1 + k) : [first];
    }),
};

/** A pipeline file (JSON) whose every step runs `true`; `keys` are added to each step. */
export function pipelineOf(needs, keys = {}) {
  const steps = Object.fromEntries(
    needs.map((on, i) => [
      `s${i}`,
      { command: ['true'], ...keys, ...(on.length ? { needs: on.map((n) => `s${n}`) } : {}) },
    ]),
  );
  return JSON.stringify({ version: 1, name: 'noop', steps });
}

export function makefileOf(needs) {
  const rules = needs.map((on, i) => `s${i}:${on.map((n) => ` s${n}`).join('')}\n\t@true\n`);
  return `.PHONY: all ${needs.map((_, i) => `s${i}`).join(' ')}\nall: ${needs.map((_, i) => `s${i}`).join(' ')}\n${rules.join('')}`;
}

export function ninjaOf(needs) {
  const edges = needs.map((on, i) => `build s${i}: noop${on.map((n) => ` s${n}`).join('')}\n`);
  return `rule noop\n  command = true\n${edges.join('')}`;
}
