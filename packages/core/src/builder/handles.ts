import { guardArguments, isObject, requireArgument } from '../model/guard-arguments.ts';
import { expression, handlesUnder, member, type Text } from './expression-handle.ts';
import { inheritOrigin } from './handle-origins.ts';
import type { OutputHandle, OutputPathHandle, ResultHandle, VolumeHandle, WholeOutputHandle } from './step-handle.ts';

/** The handle of a step, untyped: its type is that of the builder's method. */
export function stepHandle(
  step: string,
  config: { readonly [K in 'outputs' | 'results' | 'ports' | 'each']?: unknown },
): unknown {
  const [outputs, results, ports] = [namesIn(config.outputs), namesIn(config.results), namesIn(config.ports)];
  const base = member('steps', step);
  const urls = ports.map((port) => [port, { url: expression(`${member(`${base}.ports`, port)}.url`) }]);
  return {
    name: step,
    outputs: Object.fromEntries(outputs.map((output) => [output, outputHandle(step, output)])),
    results: Object.fromEntries(results.map((result) => [result, resultHandle(step, result)])),
    ...(config.each !== undefined && { cell: { results: handlesUnder(`${base}.results`, results) } }),
    status: expression(`${base}.status`),
    reason: expression(`${base}.reason`),
    reused: expression(`${base}.reused`),
    ports: Object.fromEntries(urls),
  };
}

/** The names in a list of names or in a map by name; none in anything else. */
export function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((name) => typeof name === 'string');
  return isObject(value) ? Object.keys(value) : [];
}

/** The handles of volumes, by name. */
export function volumeHandles(volumes: readonly string[]): Readonly<Record<string, VolumeHandle>> {
  return Object.fromEntries(volumes.map((volume) => [volume, volumeHandle(volume, '')]));
}

function volumeHandle(volume: string, path: string): VolumeHandle {
  const handle: VolumeHandle = {
    ...{ volume, path },
    at: (inner) => inheritOrigin(volumeHandle(volume, joinPath(path, inner)), handle),
  };
  return handle;
}

function outputHandle(step: string, output: string): WholeOutputHandle {
  const within = { step, output };
  const handle: WholeOutputHandle = {
    ...within,
    at: (path) => inheritOrigin(outputPathHandle(within, joinPath('', path)), handle),
  };
  return handle;
}

function outputPathHandle(within: OutputHandle, path: string): OutputPathHandle {
  const handle: OutputPathHandle = {
    ...{ within, path },
    at: (inner) => inheritOrigin(outputPathHandle(within, joinPath(path, inner)), handle),
  };
  return handle;
}

function resultHandle(step: string, result: string): ResultHandle<unknown> {
  return { ...expression(member(`${member('steps', step)}.results`, result)), step, result };
}

function joinPath(path: string, inner: Text): string {
  return guardArguments('at', () => {
    const isHandle = isObject(inner) && typeof inner.source === 'string';
    requireArgument(typeof inner === 'string' || isHandle, 'at: the path must be a string');
    return path === '' ? String(inner) : `${path}/${inner}`;
  });
}
