/** A pattern for the paths of files. */
export interface Glob {
  /**
   * Whether a relative path without empty parts matches. `steps` measures what that took: at most the product of both
   * lengths, whatever the pattern is.
   */
  match(file: string): { readonly isMatch: boolean; readonly steps: number };
}

/**
 * Compiles `*`, `?`, `[a-z]`, `[^a-z]`, `{a,b}`, `**` and `\` before a character; everything else stands for itself. As in a
 * shell, `*`, `?` and `**` match no dot at the beginning of a name. Backtracking takes exponential time for patterns such as
 * `*a*a*a*b`, so an automaton follows all possibilities at once.
 */
export function compileGlob(pattern: string): Glob {
  const chars = Array.from(pattern.replace(/^(?:\.\/)+/, ''));
  const automaton: Automaton = [{ kind: 'end' }];
  const start = connect(automaton, parse(chars, { from: 0, to: chars.length, isNested: false, opensName: true }), 0);
  return {
    match(file) {
      const { isMatch, steps } = follow(automaton, start, file);
      // A file may be named like a pattern.
      return { isMatch: isMatch || file === pattern, steps };
    },
  };
}

type Test = (char: string) => boolean;

/** `visible`: no dot follows. `below`: names that are visible. `directories`: each with its slash. */
type Part =
  | { readonly kind: 'one'; readonly test: Test }
  | { readonly kind: 'star' | 'visible' | 'below' | 'directories' }
  | { readonly kind: 'either'; readonly parts: readonly (readonly Part[])[] };

interface Range {
  readonly from: number;
  readonly to: number;
  readonly isNested: boolean;
  /** Whether a name of the path begins here. */
  readonly opensName: boolean;
}

const notSlash: Test = (char) => char !== '/';
const slash: Part = { kind: 'one', test: (char) => char === '/' };
const literal = (char: string): Part => ({ kind: 'one', test: (other) => other === char });

function parse(chars: readonly string[], { from, to, isNested, opensName }: Range): Part[] {
  const parts: Part[] = [];
  /** What was read last; `edge`: the beginning of alternatives, where `*` matches a dot. */
  let last: 'edge' | 'slash' | 'star' | 'other' = isNested ? 'edge' : 'slash';
  for (let at = from; at < to; ) {
    const isAtName = last === 'slash' || (last === 'edge' && opensName);
    const stars = countStars(chars, at, to);
    const rest = at + stars;
    if (chars[at] === '/') {
      // `a/**` matches the file `a`, too, but `*/**` only what is below.
      const isTail = !isNested && last !== 'star' && /^(?:\/\*\*)+$/.test(chars.slice(at, to).join(''));
      if (isTail) return [...parts, { kind: 'either', parts: [[], [slash, { kind: 'below' }]] }];
      parts.push(slash);
      [at, last] = [at + 1, 'slash'];
    } else if (stars === 2 && isAtName && (rest === to || chars[rest] === '/')) {
      parts.push({ kind: rest === to ? 'below' : 'directories' });
      [at, last] = rest === to ? [rest, 'star'] : [rest + 1, 'slash'];
    } else if (stars > 0) {
      if (last === 'slash') parts.push({ kind: 'visible' });
      parts.push({ kind: 'star' });
      [at, last] = [rest, 'star'];
    } else {
      const { part, next } = parseOther(chars, at, { to, isNested, opensName: isAtName });
      if (chars[at] === '?' && last === 'slash') parts.push({ kind: 'visible' });
      parts.push(part);
      [at, last] = [next, 'other'];
    }
  }
  return parts;
}

function countStars(chars: readonly string[], from: number, to: number): number {
  let at = from;
  while (at < to && chars[at] === '*') at++;
  return at - from;
}

interface Parsed {
  readonly part: Part;
  /** The index behind the part. */
  readonly next: number;
}

function parseOther(chars: readonly string[], at: number, range: Omit<Range, 'from'>): Parsed {
  const char = chars[at]!;
  if (char === '?') return { part: { kind: 'one', test: notSlash }, next: at + 1 };
  if (char === '\\' && at + 1 < range.to) return { part: literal(chars[at + 1]!), next: at + 2 };
  const found =
    char === '[' ? parseClass(chars, at, range.to) : char === '{' ? parseChoice(chars, at, range) : undefined;
  return found ?? { part: literal(char), next: at + 1 };
}

/** Undefined: the bracket stands for itself. */
function parseClass(chars: readonly string[], start: number, to: number): Parsed | undefined {
  const isNegated = chars[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const end = chars.indexOf(']', first + 1);
  if (end < 0 || end >= to) return undefined;
  const ranges: (readonly [number, number])[] = [];
  for (let at = first; at < end; at++) {
    if (chars[at] === '\\' && at + 1 < end) at++;
    const low = chars[at]!.codePointAt(0)!;
    const isRange = chars[at + 1] === '-' && at + 2 < end;
    ranges.push([low, isRange ? chars[at + 2]!.codePointAt(0)! : low]);
    if (isRange) at += 2;
  }
  const test: Test = (char) => {
    const code = char.codePointAt(0)!;
    return char !== '/' && ranges.some(([low, high]) => low <= code && code <= high) !== isNegated;
  };
  return { part: { kind: 'one', test }, next: end + 1 };
}

/** Undefined: the brace stands for itself, because it is not closed, or has no alternatives. */
function parseChoice(
  chars: readonly string[],
  start: number,
  { to, opensName }: Omit<Range, 'from'>,
): Parsed | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let at = start; at < to; at++) {
    const char = chars[at];
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === ',' && depth === 1) commas.push(at);
    else if (char === '}' && --depth === 0) {
      if (commas.length === 0) return undefined;
      const edges = [start, ...commas, at];
      const parts = edges.slice(1).map((end, index) => {
        return parse(chars, { from: edges[index]! + 1, to: end, isNested: true, opensName });
      });
      return { part: { kind: 'either', parts }, next: at + 1 };
    }
  }
  return undefined;
}

/** A state takes one character, or continues at once in other states; `visible`: only if no dot follows. */
type State =
  | { readonly kind: 'take'; readonly test: Test; readonly next: number }
  | { readonly kind: 'fork' | 'visible'; readonly next: number[] }
  | { readonly kind: 'end' };

type Automaton = State[];

function add(automaton: Automaton, state: State): number {
  return automaton.push(state) - 1;
}

/** Adds states for the parts, which continue in `next`; returns the first of them. */
function connect(automaton: Automaton, parts: readonly Part[], next: number): number {
  return parts.reduceRight((after, part) => connectPart(automaton, part, after), next);
}

function connectPart(automaton: Automaton, part: Part, next: number): number {
  switch (part.kind) {
    case 'one':
      return add(automaton, { kind: 'take', test: part.test, next });
    case 'visible':
      return add(automaton, { kind: 'visible', next: [next] });
    case 'either':
      return add(automaton, { kind: 'fork', next: part.parts.map((parts) => connect(automaton, parts, next)) });
    case 'star': {
      const loop: number[] = [next];
      const fork = add(automaton, { kind: 'fork', next: loop });
      loop.push(add(automaton, { kind: 'take', test: notSlash, next: fork }));
      return fork;
    }
    case 'below':
    case 'directories':
      return connectNames(automaton, part.kind, next);
  }
}

/** One or more names, or any number of directories. */
function connectNames(automaton: Automaton, kind: 'below' | 'directories', next: number): number {
  const name: number[] = [];
  const directory: number[] = kind === 'directories' ? [next] : [];
  const start = add(automaton, { kind: 'fork', next: directory });
  const within = add(automaton, { kind: 'fork', next: name });
  const first = add(automaton, { kind: 'take', test: notSlash, next: within });
  directory.push(add(automaton, { kind: 'visible', next: [first] }));
  name.push(first, add(automaton, { kind: 'take', test: (char) => char === '/', next: start }));
  if (kind === 'below') name.push(next);
  return start;
}

/** Follows all states that the characters so far can lead to. */
function follow(automaton: Automaton, start: number, file: string): { isMatch: boolean; steps: number } {
  const chars = Array.from(file);
  /** The character before which a state was entered last. */
  const entered = new Int32Array(automaton.length).fill(-1);
  let open = [start];
  let steps = 0;
  for (let at = 0; at <= chars.length && open.length > 0; at++) {
    const char = chars[at];
    const next: number[] = [];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (entered[index] === at) continue;
      entered[index] = at;
      steps++;
      const state = automaton[index]!;
      if (state.kind === 'take') {
        if (char !== undefined && state.test(char)) next.push(state.next);
      } else if (state.kind === 'end') {
        if (char === undefined) return { isMatch: true, steps };
      } else if (state.kind === 'fork' || char !== '.') open.push(...state.next);
    }
    open = next;
  }
  return { isMatch: false, steps };
}
