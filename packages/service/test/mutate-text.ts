/** Fragments that often reveal bugs in parsers. */
export const HOSTILE_PIECES = [
  ...'%00 %2F %c0%af % .. - : ; # ? & = // , [] {} null true " \\ \\u0000 \\ud800 __proto__ constructor'.split(' '),
  ...['9007199254740993', '-1', '1e999', ' ', '\t', '\xff', '\x00', '\r\n', 'x'.repeat(600), '[['.repeat(40)],
  ...['Content-Length: 3', 'Transfer-Encoding: chunked', 'Expect: 100-continue'],
];

/** `text` with a fragment inserted, removed or repeated. */
export function mutateText(text: string, random: () => number): string {
  const [a = 0, b = 0] = [random(), random()].map((at) => Math.floor(at * (text.length + 1))).sort((x, y) => x - y);
  const piece = text.slice(a, b);
  return (
    text.slice(0, a) +
    pick([pick(HOSTILE_PIECES, random), '', piece + piece, `${piece}${pick(HOSTILE_PIECES, random)}`], random) +
    text.slice(b)
  );
}

export function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Deterministic random numbers from 0 up to 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
