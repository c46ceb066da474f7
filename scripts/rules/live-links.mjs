import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, normalize } from 'node:path/posix';

const LINK = /\[([^\]]*)\]\(([^)\s]+)\)/g;
const CODE = /`[^`]*`/g;
const FILE_NAME = /^[\w./-]*\w\.[a-z]{1,5}$/;
const DECISION = /^(?:decision )?(0\d{3})$/i;

/**
 * Links between the documents lead somewhere: to a file that is there, and to a heading that is in it. A text that names a
 * file or a decision names the target.
 */
export function check({ root, files }) {
  const pages = new Map(files.filter(({ path }) => path.endsWith('.md')).map((file) => [file.path, file]));
  return [...pages.values()].flatMap(({ path, lines }) =>
    proseLines(lines).flatMap(({ text, line }) =>
      findLinks(text).flatMap((link) => {
        const message = judge(link, { root, path, pages });
        return message === undefined ? [] : [{ file: path, line, message }];
      }),
    ),
  );
}

/** The links to files and headings; what looks like a link within a code span is none. */
function findLinks(text) {
  // Of the same length, so that the places are those of the text.
  const prose = text.replace(CODE, (code) => '`'.repeat(code.length));
  return [...prose.matchAll(LINK)]
    .map(({ index, 1: label, 2: target }) => ({ label: text.slice(index + 1, index + 1 + label.length), target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target));
}

function judge({ label, target }, { root, path, pages }) {
  const [file, heading] = target.split('#');
  const wanted = file === '' ? path : normalize(`${dirname(path)}/${decodeURIComponent(file)}`).replace(/\/$/, '');
  const page = pages.get(wanted);
  const isAlive =
    (file === '' || existsSync(join(root, wanted))) &&
    (heading === undefined || page === undefined || headingsOf(page).has(heading));
  if (!isAlive) return `link to "${target}" leads nowhere`;
  return namesAnother(label.replaceAll('`', ''), wanted) ? `link to "${target}" has the text "${label}"` : undefined;
}

/** Whether a text is the name of another file or decision. A page may explain a file that is not a page. */
function namesAnother(label, path) {
  const [, decision] = DECISION.exec(label) ?? [];
  if (decision !== undefined) return !path.split('/').at(-1).startsWith(`${decision}-`);
  if (!FILE_NAME.test(label) || (path.endsWith('.md') && !label.endsWith('.md'))) return false;
  return !`/${path}`.endsWith(`/${label.replace(/^(?:\.{1,2}\/)+/, '')}`);
}

function headingsOf({ lines }) {
  const titles = proseLines(lines).flatMap(({ text }) => /^#+ (.*)$/.exec(text)?.slice(1) ?? []);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The lines outside code fences. */
function proseLines(lines) {
  let fenced = false;
  return lines.flatMap((text, i) => {
    if (/^\s*(```|~~~)/.test(text)) {
      fenced = !fenced;
      return [];
    }
    return fenced ? [] : [{ text, line: i + 1 }];
  });
}
