import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

const RESULTS = '/sluice/results';

/** No two inputs or outputs of a step share a mount point, and none takes the place of the results. */
export const checkMounts: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { inputs, outputs, name } = checked.step;
    const taken = new Map<string, readonly (string | number)[]>();
    for (const [section, mounts] of [
      ['inputs', inputs],
      ['outputs', outputs],
    ] as const) {
      for (const key in mounts) {
        const mount = normalize(mounts[key]?.path ?? '');
        const path = pathInStep(context, checked, [section, key, 'path']);
        const first = taken.get(mount);
        if (mount === RESULTS || mount.startsWith(`${RESULTS}/`) || mount === '' || mount.includes('/../')) {
          const message = `\`${section}.${key}\` of step \`${name}\` cannot be mounted at ${mount === '' ? '/' : mount}`;
          context.report({
            code: 'bad-path',
            message,
            path,
            hint: `choose another place, for example /${section === 'inputs' ? 'in' : 'out'}/${key}`,
          });
        } else if (first !== undefined) {
          const message = `\`${section}.${key}\` of step \`${name}\` is mounted at ${mount}, where something else is`;
          context.report({
            code: 'duplicate-mount',
            message,
            path,
            related: [{ message: 'it is taken here', path: first }],
          });
        } else taken.set(mount, path);
      }
    }
  }
};

function normalize(path: string): string {
  return path.includes('//') || path.endsWith('/') || path.includes('/./')
    ? path.replace(/\/(?:\.?\/)+/g, '/').replace(/\/$/, '')
    : path;
}
