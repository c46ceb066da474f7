/**
 * The context of a position in a shell script, which determines how a value is inserted there. In a `literal` here-
 * document, whose delimiter is quoted, the shell inserts no values.
 */
export type ShellContext = 'code' | 'double' | 'single' | 'arithmetic' | 'document' | 'literal';

/** Reads a shell script in pieces; between them are expressions. */
export interface ShellReader {
  /** The context at the end of what was read. */
  readonly context: ShellContext;
  /** Reads the next piece. */
  readonly read: (piece: string) => void;
}

interface Frame {
  readonly kind: 'code' | 'double' | 'single' | 'arithmetic';
  /** The text that ends it; empty for the script itself. */
  readonly end: string;
}

interface HereDocument {
  readonly delimiter: string;
  readonly literal: boolean;
  readonly tabs: boolean;
}

const HERE_DOCUMENT = /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|(\\?[A-Za-z_][\w.+-]*))/y;
const SCRIPT: Frame = { kind: 'code', end: '' };

/**
 * Recognizes quotes, substitutions, arithmetic, comments and here-documents. The `)` of a `case` pattern inside a
 * substitution counts as the end of the substitution.
 */
export function createShellReader(): ShellReader {
  return new ScriptReader();
}

class ScriptReader implements ShellReader {
  readonly #frames: Frame[] = [];
  /** Here-documents whose text begins on the next line; with `#inDocument`, the first of them is being read. */
  readonly #documents: HereDocument[] = [];
  #inDocument = false;
  #line = '';
  #before = '';

  get context(): ShellContext {
    const [document] = this.#documents;
    if (this.#inDocument && document !== undefined) return document.literal ? 'literal' : 'document';
    return this.#frame().kind;
  }

  read(piece: string): void {
    for (let at = 0; at < piece.length; )
      at += this.#inDocument ? this.#readDocument(piece, at) : this.#readCode(piece, at);
    this.#before = 'x';
    // A line that contains a value does not end a here-document.
    this.#line += 'x';
  }

  #frame(): Frame {
    return this.#frames.at(-1) ?? SCRIPT;
  }

  /** Reads one line of a here-document; returns the number of characters. */
  #readDocument(piece: string, at: number): number {
    const end = piece.indexOf('\n', at);
    this.#line += piece.slice(at, end === -1 ? undefined : end);
    if (end === -1) return piece.length - at;
    const [document] = this.#documents;
    const text = document?.tabs ? this.#line.replace(/^\t+/, '') : this.#line;
    if (text === document?.delimiter) this.#documents.shift();
    this.#inDocument = this.#documents.length > 0;
    this.#line = '';
    return end + 1 - at;
  }

  /** Reads one token; returns the number of characters. */
  #readCode(piece: string, at: number): number {
    const character = piece[at] ?? '';
    const { kind, end } = this.#frame();
    const previous = this.#before;
    this.#before = character;
    if (kind === 'single') return character === end ? this.#leave(1) : 1;
    if (character === '\\') return 2;
    if (end !== '' && piece.startsWith(end, at)) return this.#leave(end.length);
    const opened = this.#open(piece, at);
    if (opened > 0) return opened;
    if (kind !== 'code') return 1;
    if (character === '#' && /^$|[\s;&|(]/.test(previous)) {
      const newline = piece.indexOf('\n', at);
      return newline === -1 ? piece.length - at : newline - at;
    }
    if (character === '\n' && this.#documents.length > 0) {
      this.#inDocument = true;
      this.#line = '';
    }
    return character === '<' ? this.#readRedirection(piece, at) : 1;
  }

  #leave(length: number): number {
    this.#frames.pop();
    return length;
  }

  /** Opens a frame if one begins here: a quote, a substitution, arithmetic, a group. */
  #open(piece: string, at: number): number {
    const { kind } = this.#frame();
    const opening = OPENINGS.find(([sign, , , within]) => within.includes(kind) && piece.startsWith(sign, at));
    if (opening === undefined) return 0;
    const [sign, inner, end] = opening;
    this.#frames.push({ kind: inner, end });
    return sign.length;
  }

  #readRedirection(piece: string, at: number): number {
    if (piece.startsWith('<<<', at)) return 3;
    HERE_DOCUMENT.lastIndex = at;
    const match = HERE_DOCUMENT.exec(piece);
    if (match === null) return 1;
    const [whole, dash, single, double, plain = ''] = match;
    const delimiter = single ?? double ?? plain.replace('\\', '');
    this.#documents.push({ delimiter, literal: delimiter !== plain, tabs: dash === '-' });
    return whole.length;
  }
}

/**
 * Opening text, the frame that it opens, the text that closes it, and the frames in which it opens one. Longer openings
 * come first.
 */
const OPENINGS: readonly (readonly [string, Frame['kind'], string, readonly Frame['kind'][]])[] = [
  ['$((', 'arithmetic', '))', ['code', 'double', 'arithmetic']],
  ['$(', 'code', ')', ['code', 'double', 'arithmetic']],
  ['`', 'code', '`', ['code', 'double', 'arithmetic']],
  ['(', 'arithmetic', ')', ['arithmetic']],
  ['(', 'code', ')', ['code']],
  ['"', 'double', '"', ['code']],
  ["'", 'single', "'", ['code']],
];
