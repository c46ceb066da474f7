import { fail, ok, type Result } from '../model/result.ts';

/** A template's pieces, in order. `start` and `end` enclose the expression's source within the template. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly source: string; readonly start: number; readonly end: number };

/** Whether a text needs `splitTemplate`; most texts of a pipeline do not. */
export function hasExpression(text: string): boolean {
  return text.includes('${{');
}

/** A template that yields this literal text. */
export function escapeTemplate(text: string): string {
  return text.split('${{').join('$${{');
}

/** Splits a template; `$${{` stands for a literal `${{`. The error is the offset of an opening without its end. */
export function splitTemplate(text: string): Result<readonly TemplatePart[], { readonly start: number }> {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  for (let open = text.indexOf('${{'); open !== -1; open = text.indexOf('${{', at)) {
    if (text[open - 1] === '$' && open - 1 >= at) {
      literal += `${text.slice(at, open - 1)}\${{`;
      at = open + 3;
      continue;
    }
    literal += text.slice(at, open);
    const end = endOfExpression(text, open + 3);
    if (end === -1) return fail({ start: open });
    if (literal !== '') parts.push({ kind: 'text', text: literal });
    literal = '';
    const source = text.slice(open + 3, end);
    const lead = source.length - source.trimStart().length;
    const start = open + 3 + lead;
    parts.push({ kind: 'expression', source: source.trim(), start, end: start + source.trim().length });
    at = end + 2;
  }
  literal += text.slice(at);
  if (literal !== '' || parts.length === 0) parts.push({ kind: 'text', text: literal });
  return ok(parts);
}

/** Finds the first `}}` that is neither in a string nor the end of a map in the expression. */
function endOfExpression(text: string, from: number): number {
  let braces = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"' || character === "'") {
      at = endOfQuote(text, at);
      if (at === -1) return -1;
    } else if (character === '{') braces++;
    else if (character === '}') {
      if (braces > 0) braces--;
      else if (text[at + 1] === '}') return at;
    }
  }
  return -1;
}

function endOfQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[start]) return at;
  }
  return -1;
}
