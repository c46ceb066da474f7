import type { Posted } from '../run/run-loop.ts';
import type { Command } from '../scheduler/command.ts';

/** Answers `lookUp`: at once, or by an effect. */
export type CacheLookUp = (command: Extract<Command, { type: 'lookUp' }>) => Posted | (() => void);
