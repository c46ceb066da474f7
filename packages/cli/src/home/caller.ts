/** The user that this process acts for. */
export interface Caller {
  readonly uid: number;
  /** The user who called root by `sudo`. */
  readonly sudoUid?: number;
}

/** Undefined where the system has no user IDs. */
export function findCaller(env: NodeJS.ProcessEnv): Caller | undefined {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  const isSudo = uid === 0 && /^\d{1,10}$/.test(env.SUDO_UID ?? '');
  return { uid, ...(isSudo && { sudoUid: Number(env.SUDO_UID) }) };
}

/** Whether something of that owner is the caller's. Root that was called by `sudo` may use what that user owns, as with git. */
export function isOwnedBy(caller: Caller, owner: number): boolean {
  return owner === caller.uid || owner === caller.sudoUid;
}
