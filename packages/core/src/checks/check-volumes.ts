import type { Check } from './check-context.ts';

/** A volume is either an existing one or made from local files; one that nothing mounts is probably a slip. */
export const checkVolumes: Check = ({ pipeline, steps, report }) => {
  const mounted = new Set<string>();
  for (const { step } of steps.values()) {
    for (const name in step.inputs) {
      const from = step.inputs[name]?.from;
      if (from !== undefined && 'volume' in from) mounted.add(from.volume);
    }
  }
  for (const [name, volume] of Object.entries(pipeline.volumes)) {
    const path = ['volumes', name];
    if (volume.id !== undefined && volume.source !== undefined) {
      const message = `volume \`${name}\` has both \`id\` and \`source\`: it exists already, or it is made from local files`;
      report({ code: 'conflicting-keys', message, path: [...path, 'source'], on: 'key' });
    }
    if (!mounted.has(name)) {
      report({
        code: 'unused',
        severity: 'warning',
        message: `no step mounts the volume \`${name}\``,
        path,
        on: 'key',
      });
    }
  }
};
