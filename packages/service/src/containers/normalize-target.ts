/** One spelling for each mount point: without doubled or trailing slashes. */
export function normalizeTarget(target: string): string {
  return `/${target
    .split('/')
    .filter((name) => name !== '')
    .join('/')}`;
}
