import { own } from '@sluice/core';

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'look whose it is; --home names another home',
  EPERM: 'look whose it is; --home names another home',
  EROFS: '--home names a home that can be written to',
  EEXIST: '--home names another',
  ENOTDIR: '--home names another',
  ENOSPC: 'make room on that disk, for example with sluice gc',
  EDQUOT: 'make room within your quota, for example with sluice gc',
  EADDRINUSE: 'another process listens there; end it, or change `listen` in the configuration',
  EMFILE: 'allow more open files: ulimit -n 4096',
};

/** What the operating system refused, and what a person can do about it. */
export function describeSystemError(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const advice = code === undefined ? undefined : own(ADVICE, code);
  return advice === undefined ? message : `${message}; ${advice}`;
}
