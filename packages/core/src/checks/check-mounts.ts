import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';

const RESULTS = '/sluice/results';

/** No two inputs or outputs of a step share a mount point, and none takes the place of the results. */
export const checkMounts: Check = (context) => {
  for (const checked of context.steps.values()) {
    const mounts: Mount[] = [];
    for (const section of ['inputs', 'outputs'] as const) {
      const map = checked.step[section];
      for (const key in map) mounts.push({ section, key, place: normalize(map[key]?.path ?? '') });
    }
    mounts.forEach((mount, index) => {
      if (isReserved(mount.place)) reportReserved(context, checked, mount);
      // A step has a few mounts, for which a search is quicker than an index.
      const first = mounts.find((other) => other.place === mount.place);
      if (first !== undefined && mounts.indexOf(first) < index) reportTaken(context, checked, [first, mount]);
    });
  }
};

interface Mount {
  readonly section: 'inputs' | 'outputs';
  readonly key: string;
  readonly place: string;
}

function isReserved(place: string): boolean {
  return place === '' || place === RESULTS || place.startsWith(`${RESULTS}/`) || `${place}/`.includes('/../');
}

function reportReserved(context: CheckContext, checked: CheckedStep, mount: Mount): void {
  const message = `${nameOf(mount)} of step \`${checked.step.name}\` cannot be mounted at ${mount.place || '/'}`;
  const hint = `choose another place, for example /${mount.section === 'inputs' ? 'in' : 'out'}/${mount.key}`;
  context.report({ code: 'bad-path', message, path: pathOf(context, checked, mount), hint });
}

function reportTaken(context: CheckContext, checked: CheckedStep, [first, second]: readonly [Mount, Mount]): void {
  const message = `${nameOf(second)} of step \`${checked.step.name}\` is mounted at ${second.place}, where ${nameOf(first)} is`;
  const related = [{ message: 'it is taken here', path: pathOf(context, checked, first) }];
  context.report({ code: 'duplicate-mount', message, path: pathOf(context, checked, second), related });
}

function nameOf({ section, key }: Mount): string {
  return `\`${section}.${key}\``;
}

function pathOf(context: CheckContext, checked: CheckedStep, { section, key }: Mount): Path {
  return pathInStep(context, checked, [section, key, 'path']);
}

function normalize(path: string): string {
  if (!/\/\.?(?:\/|$)/.test(path)) return path;
  return path.replace(/\/(?:\.?\/)+/g, '/').replace(/\/\.?$/, '');
}
