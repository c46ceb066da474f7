import { Composer, type Document, Lexer, LineCounter, Parser } from 'yaml';
import { MAX_DEPTH } from '../model/json-fault.ts';

export interface YamlFault {
  readonly code: 'syntax' | 'too-deep' | 'unknown-tag';
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

export interface ParsedYaml {
  readonly document: Document.Parsed | undefined;
  /** Documents in the stream. */
  readonly documents: number;
  /** Where the second of several documents begins. */
  readonly second?: number;
  readonly faults: readonly YamlFault[];
}

/**
 * Parses YAML 1.2 with bounded nesting. The composer of `yaml` recurses and can exhaust the stack in a way that ends
 * the whole process (1,000 nested `[` did, with SIGABRT); the lexer and the parser below it do not recurse, so the
 * depth is watched there, exactly, and the composer never sees a deeper tree.
 */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  // That keys are unique is seen to by `yamlToJson`: the composer compares each with each.
  const composer = new Composer({ version: '1.2', uniqueKeys: false, keepSourceTokens: false, prettyErrors: false });
  let tooDeep: number | undefined;
  function* tokens() {
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme);
      if (parser.stack.length > MAX_DEPTH + 2) {
        tooDeep = parser.offset;
        return;
      }
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
  const documents = [...composer.compose(tree, true, text.length)];
  const faults: YamlFault[] = [];
  for (const document of documents) {
    for (const error of document.errors) {
      faults.push({ code: 'syntax', message: reason(error.message), start: error.pos[0], end: error.pos[1] });
    }
    for (const warning of document.warnings) {
      faults.push({
        code: 'unknown-tag',
        message: reason(warning.message),
        start: warning.pos[0],
        end: warning.pos[1],
      });
    }
  }
  const second = documents[1]?.range[0];
  return { document: documents[0], documents: documents.length, faults, ...(second !== undefined && { second }) };
}

/** One sentence without the parser's full stop and line hints. */
function reason(message: string): string {
  const line = message.split('\n')[0] ?? message;
  return line.replace(/ at line \d+, column \d+:?$/, '').replace(/\.$/, '');
}
