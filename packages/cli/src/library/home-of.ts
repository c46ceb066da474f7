import { findHome } from '../home/home.ts';

/** The home of a call, which need not exist. */
export function homeOf({ home }: { readonly home?: string | undefined }): string {
  return findHome({ env: process.env, cwd: process.cwd() }, home === undefined ? {} : { home });
}
