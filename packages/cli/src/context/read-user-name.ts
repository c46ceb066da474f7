import { userInfo } from 'node:os';

/**
 * The user for the journal of approvals and cancellations: the ID if the system knows no name, as in many containers.
 */
export function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
