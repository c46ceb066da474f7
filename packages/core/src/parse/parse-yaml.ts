import { Composer, type Document, Lexer, LineCounter, Parser } from 'yaml';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { describeYamlFault } from './describe-yaml-fault.ts';

/** A fault with its offsets in the text. */
export interface YamlFault {
  readonly code: 'syntax' | 'too-deep' | 'unknown-tag';
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** The syntax tree of a text, whose values are not resolved yet. */
export interface ParsedYaml {
  readonly document: Document.Parsed | undefined;
  /** Number of documents in the stream, at most 2: the others are not read. */
  readonly documents: number;
  /** Offset of the second document, if there is one. */
  readonly second?: number;
  readonly faults: readonly YamlFault[];
}

/** The parser continues after errors, and a file may have one in every character. */
const MAX_ERRORS = 1000;

/**
 * Parses YAML 1.2 with bounded nesting. The composer of `yaml` recurses and can exhaust the stack such that the process
 * aborts (1,000 nested `[` did, with SIGABRT). Lexer and parser do not recurse, so the depth is checked there, before
 * the composer.
 */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  // `yamlToJson` checks that keys are unique: the composer would compare each with each.
  const composer = new Composer({ version: '1.2', uniqueKeys: false, keepSourceTokens: false, prettyErrors: false });
  let tooDeep: number | undefined;
  const count = { documents: 0, errors: 0 };
  /** Stops after the second document, and after a number of errors, because nothing further would be reported. */
  function* tokens() {
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) {
        if (token.type === 'document') count.documents++;
        if (token.type === 'error') count.errors++;
        yield token;
      }
      if (parser.stack.length > MAX_DEPTH + 2) tooDeep = parser.offset;
      if (tooDeep !== undefined || count.documents > 1 || count.errors > MAX_ERRORS) return;
    }
    yield* parser.end();
  }
  const tree = [...tokens()];
  if (tooDeep !== undefined) {
    const fault: YamlFault = {
      code: 'too-deep',
      message: `nested deeper than ${MAX_DEPTH} levels`,
      start: tooDeep,
      end: tooDeep + 1,
    };
    return { document: undefined, documents: 0, faults: [fault] };
  }
  const documents = withoutStacks(() => [...composer.compose(tree, true, text.length)]);
  const faults: YamlFault[] = [];
  for (const document of documents) {
    for (const error of document.errors) {
      faults.push({
        code: 'syntax',
        message: describeYamlFault(error.message),
        start: error.pos[0],
        end: error.pos[1],
      });
    }
    for (const warning of document.warnings) {
      faults.push({
        code: 'unknown-tag',
        message: describeYamlFault(warning.message),
        start: warning.pos[0],
        end: warning.pos[1],
      });
    }
  }
  if (count.errors > MAX_ERRORS) {
    const message = `more than ${MAX_ERRORS} errors; the rest of the file was not read`;
    faults.push({ code: 'syntax', message, start: parser.offset, end: parser.offset + 1 });
  }
  const second = documents[1]?.range[0];
  return { document: documents[0], documents: documents.length, faults, ...(second !== undefined && { second }) };
}

/**
 * The library creates an error per fault without throwing it; recording their stacks takes ten times as long as
 * everything else.
 */
function withoutStacks<T>(compose: () => T): T {
  const errors = Error as { stackTraceLimit?: number };
  const { stackTraceLimit } = errors;
  errors.stackTraceLimit = 0;
  try {
    return compose();
  } finally {
    if (stackTraceLimit !== undefined) errors.stackTraceLimit = stackTraceLimit;
  }
}
