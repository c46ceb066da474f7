import { EngineError } from '../engine.ts';
import { DockerError } from './docker-api.ts';

/** Errors that the daemon reports with status 500, but that repeat on every attempt. */
const FINAL = /executable file not found|OCI runtime create failed|could not select device driver|discover GPU vendor/;

/** Temporary errors of the machine: no free process, memory or disk space. They take precedence over `FINAL`. */
const PASSING =
  /from pipe: EOF|resource temporarily unavailable|cannot allocate memory|no space left|too many open files|resource busy|input\/output error|deadline exceeded/i;

/** Converts an error of the daemon. Client errors are final (`REFUSED`), all others may be temporary (`UNAVAILABLE`). */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const isFinal =
    error instanceof DockerError && (error.status < 500 || (FINAL.test(error.message) && !PASSING.test(error.message)));
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(isFinal ? 'REFUSED' : 'UNAVAILABLE', message, { cause: error });
}
