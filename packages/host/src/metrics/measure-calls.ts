import { type ContainerService, isServiceError } from '@sluice/client';

/** A call to a service that was answered, or has failed. */
export interface MeasuredCall {
  /** For example `containers.create`. */
  readonly call: string;
  /** `ok`, or the code of the error. */
  readonly reply: string;
  readonly seconds: number;
}

type Observe = (call: MeasuredCall) => void;
type Method = (...given: readonly unknown[]) => unknown;

/** Calls that send nothing, or that last as long as their caller wants. */
const UNMEASURED: ReadonlySet<string> = new Set(['volumes.files', 'containers.logs']);

/** The same service, whose calls are measured. */
export function measureCalls(service: ContainerService, observe: Observe): ContainerService {
  return {
    ...service,
    discovery: measureGroup('discovery', service.discovery, observe),
    containers: measureGroup('containers', service.containers, observe),
    volumes: measureGroup('volumes', service.volumes, observe),
  };
}

function measureGroup<T extends object>(group: string, methods: T, observe: Observe): T {
  const measured = Object.entries(methods).map(([name, method]) => {
    const call = `${group}.${name}`;
    if (typeof method !== 'function' || UNMEASURED.has(call)) return [name, method];
    const measure: Method = (...given) => measureResult((method as Method)(...given), createTimer(call, observe));
    return [name, measure];
  });
  return Object.fromEntries(measured) as T;
}

/** Called with the error of a call, or without one. */
type Timer = (error?: unknown) => void;

function createTimer(call: string, observe: Observe): Timer {
  const startedAt = performance.now();
  return (error) => {
    const failed = isServiceError(error) ? error.code : 'error';
    observe({ call, reply: error === undefined ? 'ok' : failed, seconds: (performance.now() - startedAt) / 1000 });
  };
}

function measureResult(result: unknown, stop: Timer): unknown {
  if (result instanceof Promise) {
    result.then(() => stop(), stop);
    return result;
  }
  return measureItems(result as AsyncIterable<unknown>, stop);
}

async function* measureItems<T>(items: AsyncIterable<T>, stop: Timer): AsyncIterable<T> {
  let failure: unknown;
  try {
    yield* items;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // Also if the caller needs no more items.
    stop(failure);
  }
}
