import { axesOfStep } from '../axes/implied-axes.ts';
import { findPatternFault } from '../model/find-pattern-fault.ts';
import type { NamedVolume } from '../model/pipeline.ts';
import { findSharedRead, writesToShared } from '../model/writes-to-shared.ts';
import { type Check, type CheckContext, type CheckedStep, pathInStep } from './check-context.ts';
import { suggestName } from './nearest-name.ts';

/**
 * A volume either exists already or is created from local files; one that no step mounts is probably a mistake. A step
 * that writes to a shared volume cannot be cached, because its effect is not in its outputs, nor can one that reads it,
 * because others may change what it reads.
 */
export const checkVolumes: Check = (context) => {
  const { pipeline, steps, report } = context;
  const mounted = new Set<string>();
  for (const checked of steps.values()) {
    const { inputs, cache } = checked.step;
    let isWriter = false;
    for (const name in inputs) {
      const from = inputs[name]?.from;
      if (from === undefined || !('volume' in from)) continue;
      mounted.add(from.volume);
      if (cache === undefined || !writesToShared(inputs[name]!, pipeline)) continue;
      isWriter = true;
      reportWriter(context, checked, name);
    }
    const read = cache === undefined || isWriter ? undefined : findSharedRead(checked.step, pipeline);
    if (read !== undefined) reportReader(context, checked, read);
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
    if (volume.each !== undefined) checkEachOfVolume(context, { name, volume });
    for (const [index, pattern] of (volume.exclude ?? []).entries()) {
      const fault = findPatternFault(pattern);
      if (fault === undefined) continue;
      const message = `volume \`${name}\` cannot exclude ${JSON.stringify(pattern)}: ${fault}`;
      report({ code: 'bad-path', message, path: [...path, 'source', 'exclude', index] });
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

/** A volume with a directory for each item: every step that mounts it has such an item. */
function checkEachOfVolume(
  { pipeline, steps, report }: CheckContext,
  { name, volume }: { readonly name: string; readonly volume: NamedVolume },
): void {
  const path = ['volumes', name, 'each'];
  if (volume.id !== undefined || volume.source !== undefined) {
    const what = volume.id === undefined ? 'is created from local files' : 'already exists';
    const message = `volume \`${name}\` cannot have \`each\` because it ${what}`;
    const hint = `a path in an edge names what a cell reads: volumes.${name}/\${{ each.AXIS }}`;
    report({ code: 'conflicting-keys', message, path, on: 'key', hint });
    return;
  }
  const axes = Object.keys(pipeline.axes ?? {});
  for (const axis of volume.each ?? []) {
    if (axes.includes(axis)) continue;
    const message = `volume \`${name}\` has a directory for each \`${axis}\`, which is not an axis of the pipeline`;
    report({ code: 'unknown-axis', message, path, lookedIn: ['axes'], ...suggestName(axis, axes) });
    return;
  }
  for (const { step } of steps.values()) {
    const isMounted = Object.values(step.inputs).some(({ from }) => 'volume' in from && from.volume === name);
    const missing = isMounted && volume.each?.find((axis) => !axesOfStep(pipeline, step).includes(axis));
    if (!missing) continue;
    const message = `volume \`${name}\` has a directory for each \`${missing}\`, but step \`${step.name}\` mounts it and has no item of this axis`;
    report({ code: 'unknown-axis', message, path, hint: `add \`each: ${missing}\` to the step` });
  }
}

function reportWriter(context: CheckContext, checked: CheckedStep, input: string): void {
  reportCached(context, checked, {
    fault: `its input \`${input}\` writes to a shared volume`,
    hint: 'set `cache: false` for this step; on a cache hit, nothing would be written',
    related: { message: 'declared writable here', keys: ['inputs', input, 'writable'] },
  });
}

function reportReader(context: CheckContext, checked: CheckedStep, input: string): void {
  reportCached(context, checked, {
    fault: `its input \`${input}\` reads a volume to which others may write`,
    hint: `set \`cache: false\` for this step, or \`cache: { ignore: [${input}] }\` if what it reads there never changes`,
    related: { message: 'mounted here', keys: ['inputs', input] },
  });
}

interface SharedUse {
  readonly fault: string;
  readonly hint: string;
  readonly related: { readonly message: string; readonly keys: readonly string[] };
}

function reportCached(context: CheckContext, checked: CheckedStep, { fault, hint, related }: SharedUse): void {
  context.report({
    code: 'conflicting-keys',
    message: `step \`${checked.step.name}\` cannot have \`cache\` because ${fault}`,
    path: pathInStep(context, checked, ['cache']),
    on: 'key',
    hint,
    related: [{ message: related.message, path: pathInStep(context, checked, related.keys) }],
  });
}
