import { EngineError } from '../engine.ts';

/** `name`, `name:count`, `name:type` or `name:type:count`. Slurm has other forms, which could name GPUs without looking like it. */
const ENTRY = /^(?!(?:gres|help|list|none)(?:$|:))[\w.-]+(?::[\w.-]+){0,2}$/i;
const GPUS = /^gpu:(?:[\w.-]+:)?(\d{1,6})$/;

/**
 * The value of `--gres`, of which only the last counts: the GPUs of the instance type, and what the step adds. The step may
 * give them a type, but has as many. Throws `EngineError` `REJECTED` otherwise.
 */
export function gresOfStep(requested: string, gpus: number): string {
  const entries = requested.split(',');
  const wrong = entries.find((entry) => !(ENTRY.test(entry) && (!/^gpu(:|$)/i.test(entry) || GPUS.test(entry))));
  if (wrong !== undefined) throw reject(`'${wrong}' is not of the form name:count or name:type:count`);
  const named = entries.flatMap((entry) => GPUS.exec(entry)?.[1] ?? []);
  if (named.length === 0) return gresOfType(requested, gpus);
  const count = named.reduce((sum, one) => sum + Number(one), 0);
  if (count !== gpus)
    throw reject(`it has ${count} GPUs and the instance type ${gpus}; use an instance type with ${count}`);
  return requested;
}

/** The same of the configuration, which is not checked; '' for none. */
export function gresOfType(configured: string | undefined, gpus: number): string {
  const namesGpus = configured?.split(',').some((entry) => /^gpu(:|$)/.test(entry));
  const entries = [...(gpus > 0 && !namesGpus ? [`gpu:${gpus}`] : []), ...(configured ? [configured] : [])];
  return entries.join(',');
}

function reject(why: string): EngineError {
  return new EngineError('REJECTED', `could not use 'slurm.gres' of the step: ${why}`);
}
