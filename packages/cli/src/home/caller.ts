/** The user that this process acts for. */
export interface Caller {
  readonly uid: number;
  /** The user who ran `sudo`, if this process is root through it. */
  readonly sudoUid?: number;
}

/** The effective user of this process; undefined if the system has no user IDs. */
export function findCaller(env: NodeJS.ProcessEnv): Caller | undefined {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  const isSudo = uid === 0 && /^\d{1,10}$/.test(env.SUDO_UID ?? '');
  return { uid, ...(isSudo && { sudoUid: Number(env.SUDO_UID) }) };
}

/** Whether `owner` is the caller. For root through `sudo`, also the user who ran it, as in git. */
export function isOwnedBy(caller: Caller, owner: number): boolean {
  return owner === caller.uid || owner === caller.sudoUid;
}
