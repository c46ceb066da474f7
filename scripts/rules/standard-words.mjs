import { createScanner, SyntaxKind } from 'typescript/unstable/ast';

const GLOSSARY = 'docs/glossary.md';
const SELF = 'scripts/rules/standard-words.mjs';
/** Findings left in each area from before the rule existed. A count may only fall; an area without one has none. */
const TOLERATED = {};

/**
 * The glossary lists the words that must not be used: after `Not:` for each term, in the first column of "Plain words" for no
 * particular term. Checked are the identifiers, strings, comments and file names of the packages, the prose of the
 * documents outside code spans, and the whole text of the examples.
 */
export function check({ files }) {
  const glossary = files.find(({ path }) => path === GLOSSARY);
  if (glossary === undefined) return [];
  const { words, exceptions } = readGlossary(glossary.lines);
  // The counts are of the tree that holds this rule.
  const tolerated = files.some(({ path }) => path === SELF) ? TOLERATED : {};
  const areas = new Map(Object.keys(tolerated).map((area) => [area, []]));
  for (const file of files) {
    for (const { area, line, found, standard } of findWords(file, words)) {
      if (exceptions.some((one) => one.word === found && file.path.startsWith(one.where))) continue;
      const message = `"${found}" is not a standard term; use ${standard}`;
      areas.set(area, [...(areas.get(area) ?? []), { file: file.path, line, message }]);
    }
  }
  return [...areas].flatMap(([area, faults]) => judgeArea(area, { faults, limit: tolerated[area] ?? 0 }));
}

function judgeArea(area, { faults, limit }) {
  if (faults.length > limit) return faults;
  if (faults.length === limit) return [];
  const message = `lower the count of ${area} from ${limit} to ${faults.length}`;
  return [{ file: SELF, line: 1, message, isNote: true }];
}

/** The disallowed words, each with the standard term, and the places where one is allowed. */
function readGlossary(lines) {
  const words = [];
  const exceptions = [];
  let section = '';
  for (const line of lines) {
    section = /^## (.*)/.exec(line)?.[1] ?? section;
    const [, term, listed] = /^\*\*(.+?)\*\*.* Not: (.*)$/.exec(line) ?? [];
    const [, first, second] = /^\| (`.*?) \| (.*?) \|/.exec(line) ?? [];
    if (listed !== undefined) words.push(...spans(listed).map((word) => ({ word, standard: term })));
    else if (section === 'Plain words' && first !== undefined)
      words.push(...spans(first).map((word) => ({ word, standard: second })));
    else if (section === 'Exceptions' && first !== undefined)
      for (const where of spans(second)) exceptions.push(...spans(first).map((word) => ({ word, where })));
  }
  return { words: words.map(({ word, standard }) => ({ pattern: patternOf(word), standard })), exceptions };
}

function spans(text) {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span);
}

/** `take/took over` means "take over" and "took over"; words may also be joined by a hyphen, an underscore or a new line. */
function patternOf(word) {
  const parts = word.split(' ').map((part) => `(?:${part.split('/').join('|')})`);
  return new RegExp(`(?<![a-z0-9])${parts.join('[\\s_*-]+')}(?![a-z])`, 'gi');
}

function findWords({ path, lines }, words) {
  if (/^(docs\/.*|[^/]+)\.md$/.test(path))
    return findIn(proseOf(lines), words).map((one) => ({ area: 'docs', ...one }));
  if (path.startsWith('examples/')) {
    const texts = path.endsWith('.md') ? proseOf(lines) : lines.map((text, index) => ({ line: index + 1, text }));
    return findIn(texts, words).map((one) => ({ area: 'examples', ...one }));
  }
  const [, area] = /^(packages\/[^/]+)\/src\/.*\.tsx?$/.exec(path) ?? [];
  if (area === undefined) return [];
  const { code, comments } = textsOf(lines.join('\n'));
  const name = path.slice(`${area}/src/`.length, path.lastIndexOf('.'));
  return [
    ...findIn([{ line: 1, text: name }, ...code], words).map((one) => ({ area, ...one })),
    ...findIn(comments, words).map((one) => ({ area: `${area}, comments`, ...one })),
  ];
}

function findIn(texts, words) {
  return texts.flatMap(({ line, text }) => {
    const spaced = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2');
    return words.flatMap(({ pattern, standard }) =>
      [...spaced.matchAll(pattern)].map(({ 0: match, index }) => ({
        line: line + spaced.slice(0, index).split('\n').length - 1,
        found: match.toLowerCase().replace(/[\s_*-]+/g, ' '),
        standard,
      })),
    );
  });
}

/** The text of a page without what is in code fences, code spans and link targets. */
function proseOf(lines) {
  let fenced = false;
  return lines.flatMap((text, index) => {
    const isFence = /^\s*(```|~~~)/.test(text);
    if (isFence) fenced = !fenced;
    if (isFence || fenced) return [];
    return [{ line: index + 1, text: text.replace(/`[^`]*`/g, '').replace(/\]\([^)]*\)/g, ']') }];
  });
}

const STRINGS = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);
const COMMENTS = new Set([SyntaxKind.SingleLineCommentTrivia, SyntaxKind.MultiLineCommentTrivia]);

/** The strings, the comments, and each identifier where it occurs first. */
function textsOf(source) {
  const found = { code: [], comments: [] };
  const identifiers = new Set();
  let line = 1;
  for (const { kind, text } of tokensOf(source)) {
    if (COMMENTS.has(kind)) found.comments.push({ line, text });
    else if (STRINGS.has(kind)) found.code.push({ line, text });
    else if (kind === SyntaxKind.Identifier && !identifiers.has(text)) {
      identifiers.add(text);
      found.code.push({ line, text });
    }
    line += text.split('\n').length - 1;
  }
  return found;
}

/** A scanner alone cannot tell a division from a regular expression, nor a block's end from the rest of a template. */
function* tokensOf(source) {
  const scanner = createScanner(false);
  scanner.setText(source);
  const braces = [];
  let isOperand = false;
  let previous;
  for (;;) {
    let kind = scanner.scan();
    if (kind === SyntaxKind.EndOfFile) return;
    // In `</name>` it is neither.
    if (kind === SyntaxKind.SlashToken && !isOperand && previous !== SyntaxKind.LessThanToken)
      kind = scanner.reScanSlashToken();
    if (kind === SyntaxKind.CloseBraceToken && braces.pop() === 'template') kind = scanner.reScanTemplateToken(false);
    if (kind === SyntaxKind.OpenBraceToken) braces.push('block');
    if (kind === SyntaxKind.TemplateHead || kind === SyntaxKind.TemplateMiddle) braces.push('template');
    const text = scanner.getTokenText();
    if (!COMMENTS.has(kind) && text.trim() !== '')
      isOperand = /[\w$)\]}`'"]$/.test(text) && !/^(return|typeof|case|in|of)$/.test(text);
    if (!COMMENTS.has(kind) && text.trim() !== '') previous = kind;
    yield { kind, text };
  }
}
