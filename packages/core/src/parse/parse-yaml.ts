import { Composer, type Document, Lexer, LineCounter, Parser, type YAMLParseError, type YAMLWarning } from 'yaml';
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
    for (const error of document.errors) faults.push(faultOf('syntax', error));
    for (const warning of document.warnings) faults.push(faultOf('unknown-tag', warning));
  }
  if (count.errors > MAX_ERRORS) {
    const message = `more than ${MAX_ERRORS} errors; the rest of the file was not read`;
    faults.push({ code: 'syntax', message, start: parser.offset, end: parser.offset + 1 });
  }
  const second = documents[1]?.range[0];
  return {
    document: documents[0],
    documents: documents.length,
    faults: withoutConsequences(faults, text),
    ...(second !== undefined && { second }),
  };
}

function faultOf(code: YamlFault['code'], { message, pos: [start, end] }: YAMLParseError | YAMLWarning): YamlFault {
  return { code, message: describeYamlFault(message), start, end };
}

/** A plain string ends where a bracket begins: at the brace after the `$`. */
const BEFORE_FAULT = 1;

/**
 * Replaces the first fault that an unquoted expression in a flow collection causes by one that says so, and omits all
 * faults after it: the parser reads the rest of the expression, and then of the file, as something else.
 */
function withoutConsequences(faults: readonly YamlFault[], text: string): readonly YamlFault[] {
  const first = faults.findIndex(({ start }) => text.startsWith('${{', start - BEFORE_FAULT));
  const fault = faults[first];
  if (fault === undefined) return faults;
  const open = fault.start - BEFORE_FAULT;
  const start = open - (/[^\s,[\]{}:]*$/.exec(text.slice(Math.max(0, open - MAX_SHOWN), open))?.[0].length ?? 0);
  const value =
    /^[^\n]*?\}\}[^\s,[\]{}]*/.exec(text.slice(start, start + MAX_SHOWN))?.[0] ?? text.slice(start, open + 3);
  const quote = value.includes('"') ? "'" : '"';
  const fix = value.includes("'") && quote === "'" ? '' : `: ${quote}${value}${quote}`;
  const message = `an expression within \`{ }\` or \`[ ]\` needs quotes${fix}`;
  return [...faults.slice(0, first), { code: 'syntax', message, start, end: start + value.length }];
}

const MAX_SHOWN = 200;

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
