import { own } from '../model/own.ts';
import type { Input } from '../model/pipeline.ts';
import { writesToShared } from '../model/writes-to-shared.ts';
import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** System directories of every container, and the directory of results. */
const RESERVED = ['/sluice/results', '/proc', '/sys', '/dev', '/.sluice'];

/**
 * Mount points of a step are unique, replace neither results nor system directories, and no volume is mounted too
 * often.
 */
export const checkMounts: Check = (context) => {
  for (const checked of context.steps.values()) {
    const taken = new Map<string, Mount>();
    for (const section of ['inputs', 'outputs'] as const) {
      const map = checked.step[section];
      for (const key in map) {
        const mount: Mount = { section, key, place: normalize(map[key]?.path ?? '') };
        if (isReserved(mount.place)) reportReserved(context, checked, mount);
        const first = taken.get(mount.place);
        if (first === undefined) taken.set(mount.place, mount);
        else reportTaken(context, checked, [first, mount]);
      }
    }
    checkRepeats(context, checked);
  }
};

/** The protocol has two keys for a path in a volume and one for a whole volume; each can be used once. */
const MOST_OF_PATH = 2;

function checkRepeats(context: CheckContext, checked: CheckedStep): void {
  const counts = new Map<string, number>();
  for (const [key, input] of Object.entries(checked.step.inputs)) {
    const volume = 'volume' in input.from ? own(context.pipeline.volumes, input.from.volume) : undefined;
    // A private copy has its own path.
    if (input.writable === true && !writesToShared(input, context.pipeline)) continue;
    const { shown, place } = placeOf(input.from, volume?.id);
    const most = volume?.id !== undefined && place.endsWith('/') ? 1 : MOST_OF_PATH;
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    if (count !== most + 1) continue;
    const message = `step \`${checked.step.name}\` mounts \`${shown}\` more than ${most === 1 ? 'once' : 'twice'}, which the protocol does not support`;
    const path = pathInStep(context, checked, ['inputs', key]);
    context.report({ code: 'repeated-mount', message, path, hint: 'mount it once and share the mount point' });
  }
}

/** The mounted place as the file writes it, and with the volume's ID, which two names may share. */
function placeOf(from: Input['from'], id: string | undefined): { readonly shown: string; readonly place: string } {
  if ('step' in from) {
    const path = from.path === undefined ? '' : `/${from.path}`;
    return { shown: `${from.step}.${from.output}${path}`, place: `steps/${from.step}/${from.output}${path}` };
  }
  const shown = ['volumes.', from.volume, from.path === '' ? '' : `/${from.path}`].join('');
  return { shown, place: id === undefined ? `volumes/${from.volume}/${from.path}` : `ids/${id}/${from.path}` };
}

interface Mount {
  readonly section: 'inputs' | 'outputs';
  readonly key: string;
  readonly place: string;
}

function isReserved(place: string): boolean {
  return place === '' || `${place}/`.includes('/../') || RESERVED.some((taken) => `${place}/`.startsWith(`${taken}/`));
}

function reportReserved(context: CheckContext, checked: CheckedStep, mount: Mount): void {
  const message = `${nameOf(mount)} of step \`${checked.step.name}\` cannot be mounted at ${mount.place || '/'}`;
  const hint = `choose another path, for example /${mount.section === 'inputs' ? 'in' : 'out'}/${mount.key}`;
  context.report({ code: 'bad-path', message, path: pathOf(context, checked, mount), hint });
}

function reportTaken(context: CheckContext, checked: CheckedStep, [first, second]: readonly [Mount, Mount]): void {
  const message = `${nameOf(second)} of step \`${checked.step.name}\` is mounted at ${second.place}, which ${nameOf(first)} already uses`;
  const related = [{ message: 'used here', path: pathOf(context, checked, first) }];
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
