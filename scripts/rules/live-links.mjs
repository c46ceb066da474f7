import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, normalize } from 'node:path/posix';

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

/** Links between the documents lead somewhere: to a file that is there, and to a heading that is in it. */
export function check({ root, files }) {
  const pages = new Map(files.filter(({ path }) => path.endsWith('.md')).map((file) => [file.path, file]));
  return [...pages.values()].flatMap(({ path, lines }) =>
    proseLines(lines).flatMap(({ text, line }) =>
      [...text.matchAll(LINK)]
        .map(([, target]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !isAlive(target, { root, path, pages }))
        .map((target) => ({ file: path, line, message: `link to "${target}" leads nowhere` })),
    ),
  );
}

function isAlive(target, { root, path, pages }) {
  const [file, heading] = target.split('#');
  const wanted = file === '' ? path : normalize(`${dirname(path)}/${decodeURIComponent(file)}`).replace(/\/$/, '');
  if (file !== '' && !existsSync(join(root, wanted))) return false;
  const page = pages.get(wanted);
  return heading === undefined || page === undefined || headingsOf(page).has(heading);
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

/** The lines outside code fences, without code spans. */
function proseLines(lines) {
  let fenced = false;
  return lines.flatMap((text, i) => {
    if (/^\s*(```|~~~)/.test(text)) {
      fenced = !fenced;
      return [];
    }
    return fenced ? [] : [{ text: text.replace(/`[^`]*`/g, ''), line: i + 1 }];
  });
}
