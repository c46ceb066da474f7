import { userInfo } from 'node:os';

/** Who answers or cancels, as the journal keeps it: a number where the system knows no name, as in many containers. */
export function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
