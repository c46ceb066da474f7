import { own } from '@sluice/core';

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'check the owner, or name another home with --home',
  EPERM: 'check the owner, or name another home with --home',
  EROFS: 'name a writable home with --home',
  EEXIST: 'name another home with --home',
  ENOTDIR: 'name another home with --home',
  ENOSPC: 'free space on that disk, for example with: sluice gc',
  EDQUOT: 'free space in your quota, for example with: sluice gc',
  EADDRINUSE: 'another process listens on that port; stop it, or change `listen` in the configuration',
  EMFILE: 'raise the limit of open files: ulimit -n 4096',
};

/** The message of a system error, with advice where the code has some. */
export function describeSystemError(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const advice = code === undefined ? undefined : own(ADVICE, code);
  return advice === undefined ? message : `${message}; ${advice}`;
}
