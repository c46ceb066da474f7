import { type End, EngineError } from '../engine.ts';

/** Why an engine has not taken a launch: the container has ended, or the launch is to be repeated for this reason. */
export type LaunchFailure = { readonly end: End; readonly later?: never } | { readonly later: string };

/** Resolves to undefined once the engine has taken the launch. */
export async function tryLaunch(launch: () => Promise<void>): Promise<LaunchFailure | undefined> {
  try {
    await launch();
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!(error instanceof EngineError) || error.code === 'UNAVAILABLE') return { later: reason };
    return { end: { kind: error.code === 'REJECTED' ? 'rejected' : 'fault', reason } };
  }
}
