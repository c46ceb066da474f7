import { besideFile } from '../parse/beside-file.ts';
import type { Check } from './check-context.ts';

/** No output is published to the directory of another output, or below it: it would be overwritten. */
export const checkPublishing: Check = ({ pipeline, report }) => {
  const taken = new Map<string, string>();
  for (const [name, output] of Object.entries(pipeline.outputs)) {
    if (output.publish === undefined) continue;
    // `./results`, `results/` and `results` are the same place.
    const place = besideFile('', output.publish);
    const first = taken.get(place);
    if (first === undefined) taken.set(place, name);
    else {
      const message = `the outputs \`${first}\` and \`${name}\` are published to the same directory, ${output.publish}`;
      report({ code: 'duplicate-mount', message, path: ['outputs', name, 'publish'] });
    }
  }
  for (const [place, name] of taken) {
    const outer = directoriesAbove(place).find((directory) => taken.has(directory));
    if (outer === undefined) continue;
    const message = `the output \`${name}\` is published to ${place}, inside the directory of the output \`${taken.get(outer)}\``;
    const hint = 'publish them to separate directories';
    report({ code: 'nested-publish', message, path: ['outputs', name, 'publish'], hint });
  }
};

/** All directories above a place; the file's own directory is `''` for relative places. */
function directoriesAbove(place: string): readonly string[] {
  const parts = place.split('/');
  const above = parts.map((_, count) => parts.slice(0, count).join('/'));
  // `..` is outside the file's directory, and `/` is above no relative place.
  const isInside = place !== '' && parts[0] !== '..' && parts[0] !== '';
  return isInside ? above : above.filter((directory) => directory !== '');
}
