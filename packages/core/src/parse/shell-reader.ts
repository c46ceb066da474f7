/**
 * What stands around a place in a shell script, and so how a value is put there: in plain code, between quotes, in
 * arithmetic, in a here-document. In a `literal` here-document, whose delimiter is quoted, the shell puts no value at all.
 */
export type ShellContext = 'code' | 'double' | 'single' | 'arithmetic' | 'document' | 'literal';

/** Reads a shell script piece by piece; between the pieces stand expressions. */
export interface ShellReader {
  readonly context: ShellContext;
  /** Reads on. */
  readonly read: (piece: string) => void;
}

interface Frame {
  readonly kind: 'code' | 'double' | 'single' | 'arithmetic';
  /** What ends it; none for the script itself. */
  readonly end: string;
}

interface HereDocument {
  readonly delimiter: string;
  readonly literal: boolean;
  readonly tabs: boolean;
}

const HERE_DOCUMENT = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|(\\?[A-Za-z_][\w.+-]*))/y;
const SCRIPT: Frame = { kind: 'code', end: '' };

/** Knows quotes, substitutions, arithmetic, comments and here-documents; a `case` inside a substitution it takes for its end. */
export function createShellReader(): ShellReader {
  const frames: Frame[] = [];
  /** Here-documents whose text begins with the next line; the first of them is being read where `inDocument`. */
  const documents: HereDocument[] = [];
  let inDocument = false;
  let line = '';
  let before = '';

  const frame = (): Frame => frames.at(-1) ?? SCRIPT;
  const enter = (kind: Frame['kind'], end: string): void => {
    frames.push({ kind, end });
  };

  return {
    get context() {
      const [document] = documents;
      if (inDocument && document !== undefined) return document.literal ? 'literal' : 'document';
      return frame().kind;
    },
    read(piece) {
      for (let at = 0; at < piece.length; ) at += inDocument ? readDocument(piece, at) : readCode(piece, at);
      before = 'x';
      // A line with a value in it ends no here-document.
      line += 'x';
    },
  };

  /** Reads one line of a here-document; gives the number of characters. */
  function readDocument(piece: string, at: number): number {
    const end = piece.indexOf('\n', at);
    line += piece.slice(at, end === -1 ? undefined : end);
    if (end === -1) return piece.length - at;
    const [document] = documents;
    const text = document?.tabs ? line.replace(/^\t+/, '') : line;
    if (text === document?.delimiter) documents.shift();
    inDocument = documents.length > 0;
    line = '';
    return end + 1 - at;
  }

  /** Reads one sign; gives the number of characters. */
  function readCode(piece: string, at: number): number {
    const character = piece[at] ?? '';
    const { kind, end } = frame();
    const previous = before;
    before = character;
    if (kind === 'single') return character === end ? leave(1) : 1;
    if (character === '\\') return 2;
    if (end !== '' && piece.startsWith(end, at)) return leave(end.length);
    const opened = open(piece, at);
    if (opened > 0) return opened;
    if (kind !== 'code') return 1;
    if (character === '#' && /^$|[\s;&|(]/.test(previous)) {
      const newline = piece.indexOf('\n', at);
      return newline === -1 ? piece.length - at : newline - at;
    }
    if (character === '\n' && documents.length > 0) {
      inDocument = true;
      line = '';
    }
    return character === '<' ? readRedirection(piece, at) : 1;
  }

  function leave(length: number): number {
    frames.pop();
    return length;
  }

  /** What begins here has an end of its own: a quote, a substitution, arithmetic, a group. */
  function open(piece: string, at: number): number {
    const { kind } = frame();
    const opening = OPENINGS.find(([sign, , , within]) => within.includes(kind) && piece.startsWith(sign, at));
    if (opening === undefined) return 0;
    const [sign, inner, end] = opening;
    enter(inner, end);
    return sign.length;
  }

  function readRedirection(piece: string, at: number): number {
    if (piece.startsWith('<<<', at)) return 3;
    HERE_DOCUMENT.lastIndex = at;
    const match = HERE_DOCUMENT.exec(piece);
    if (match === null) return 1;
    const [whole, dash, single, double, plain = ''] = match;
    const delimiter = single ?? double ?? plain.replace('\\', '');
    documents.push({ delimiter, literal: delimiter !== plain, tabs: dash === '-' });
    return whole.length;
  }
}

/** Sign, what begins with it, what ends that, and where the sign means it. The longer sign stands first. */
const OPENINGS: readonly (readonly [string, Frame['kind'], string, readonly Frame['kind'][]])[] = [
  ['$((', 'arithmetic', '))', ['code', 'double', 'arithmetic']],
  ['$(', 'code', ')', ['code', 'double', 'arithmetic']],
  ['`', 'code', '`', ['code', 'double', 'arithmetic']],
  ['(', 'arithmetic', ')', ['arithmetic']],
  ['(', 'code', ')', ['code']],
  ['"', 'double', '"', ['code']],
  ["'", 'single', "'", ['code']],
];
