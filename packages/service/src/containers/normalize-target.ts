/** The canonical form of a mount point, without repeated or trailing slashes. */
export function normalizeTarget(target: string): string {
  return `/${target
    .split('/')
    .filter((name) => name !== '')
    .join('/')}`;
}
