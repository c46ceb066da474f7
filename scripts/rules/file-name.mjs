const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)|^export default (?:async )?(?:function|class) (\w+)/;
const VAGUE = /^(types|common|misc|base)$|(^|-)(utils?|helpers?|managers?)$/;
/** A file with more functions than this is about a topic, and named after that. */
const MAX_NAMESAKES = 3;

/** A file bears the name of its main export, and no name that would fit any file. */
export function check({ files }) {
  return files.flatMap(({ path, lines }) => {
    const name = /^packages\/[^/]+\/src\/(?:.*\/)?([^/]+)\.tsx?$/.exec(path)?.[1];
    if (name === undefined || name === 'index' || name === 'main') return [];
    if (VAGUE.test(name)) return [{ file: path, line: 1, message: `"${name}" says nothing about what is in the file` }];
    const exported = lines.flatMap((line) => EXPORT.exec(line)?.slice(1).filter(Boolean) ?? []);
    const named = exported.filter((symbol) => symbol !== symbol.toUpperCase());
    if (named.length === 0 || named.length > MAX_NAMESAKES) return [];
    if (exported.some((symbol) => fits(wordsOf(name), wordsOf(symbol)))) return [];
    return [{ file: path, line: 1, message: `named after none of its exports ${named.slice(0, 5).join(', ')}` }];
  });
}

/** The names have a word in common; "scan" and "scanner" count as one. */
function fits(a, b) {
  return a.some((word) => b.some((other) => isSameStem(word, other)));
}

function isSameStem(a, b) {
  const stem = Math.min(a.length, b.length, 4);
  return a.slice(0, stem) === b.slice(0, stem) && Math.min(a.length, b.length) >= 3;
}

function wordsOf(name) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.]/);
}
