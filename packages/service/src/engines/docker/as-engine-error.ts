import { EngineError } from '../engine.ts';
import { DockerError } from './docker-api.ts';

/** Answers that the daemon calls its own error, and that will be the same next time. */
const FINAL = /executable file not found|OCI runtime create failed|could not select device driver|discover GPU vendor/;

/** And those that are the machine's for now, whatever it says besides: no room for a process, for memory, on a disk. */
const PASSING =
  /from pipe: EOF|resource temporarily unavailable|cannot allocate memory|no space left|too many open files|resource busy|input\/output error|deadline exceeded/i;

/** A daemon that answers with a client error will do so again; anything else may pass. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const isFinal =
    error instanceof DockerError && (error.status < 500 || (FINAL.test(error.message) && !PASSING.test(error.message)));
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(isFinal ? 'REFUSED' : 'UNAVAILABLE', message, { cause: error });
}
