import { writesToShared } from '../model/writes-to-shared.ts';
import { type Check, type CheckContext, type CheckedStep, pathInStep } from './check-context.ts';

/**
 * A volume either exists already or is created from local files; one that no step mounts is probably a mistake. A step
 * that writes to a shared volume cannot be cached, because its effect is not in its outputs.
 */
export const checkVolumes: Check = (context) => {
  const { pipeline, steps, report } = context;
  const mounted = new Set<string>();
  for (const checked of steps.values()) {
    const { inputs, cache } = checked.step;
    for (const name in inputs) {
      const from = inputs[name]?.from;
      if (from === undefined || !('volume' in from)) continue;
      mounted.add(from.volume);
      if (cache !== undefined && writesToShared(inputs[name]!, pipeline)) reportCached(context, checked, name);
    }
  }
  for (const [name, volume] of Object.entries(pipeline.volumes)) {
    const path = ['volumes', name];
    if (volume.id !== undefined && volume.source !== undefined) {
      const message = `volume \`${name}\` cannot have both \`id\` (an existing volume) and \`source\` (local files)`;
      report({ code: 'conflicting-keys', message, path: [...path, 'source'], on: 'key' });
    }
    if (!volume.retain && (volume.id !== undefined || volume.source !== undefined)) {
      const what = volume.id === undefined ? 'is created from local files' : 'already exists';
      const message = `volume \`${name}\` cannot have \`retain: false\` because it ${what}`;
      const hint = 'remove `retain`: it is only for volumes without `id` and `source`';
      report({ code: 'conflicting-keys', message, path: [...path, 'retain'], on: 'key', hint });
    }
    if (!mounted.has(name)) {
      report({
        code: 'unused',
        severity: 'warning',
        message: `volume \`${name}\` is not used by any step`,
        path,
        on: 'key',
      });
    }
  }
};

function reportCached(context: CheckContext, checked: CheckedStep, input: string): void {
  const message = `step \`${checked.step.name}\` cannot have \`cache\` because its input \`${input}\` writes to a shared volume`;
  context.report({
    code: 'conflicting-keys',
    message,
    path: pathInStep(context, checked, ['cache']),
    on: 'key',
    hint: 'set `cache: false` for this step; on a cache hit, nothing would be written',
    related: [{ message: 'declared writable here', path: pathInStep(context, checked, ['inputs', input, 'writable']) }],
  });
}
