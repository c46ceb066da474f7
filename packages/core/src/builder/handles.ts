import { expression, handlesUnder, member } from './expression-handle.ts';
import type { VolumeHandle } from './step-config.ts';

/** The handle of a step, untyped: its type is that of the builder's method. */
export function stepHandle(
  step: string,
  { outputs, results, ports }: { readonly [K in 'outputs' | 'results' | 'ports']: readonly string[] },
): unknown {
  const base = member('steps', step);
  const urls = ports.map((port) => [port, { url: expression(`${member(`${base}.ports`, port)}.url`) }]);
  return {
    name: step,
    outputs: Object.fromEntries(outputs.map((output) => [output, { step, output }])),
    results: handlesUnder(`${base}.results`, results),
    status: expression(`${base}.status`),
    reason: expression(`${base}.reason`),
    reused: expression(`${base}.reused`),
    ports: Object.fromEntries(urls),
  };
}

/** The handle of a volume, or of a path in it. */
export function volumeHandle(volume: string, path: string): VolumeHandle {
  return { volume, path, at: (inner) => volumeHandle(volume, path === '' ? inner : `${path}/${inner}`) };
}
