/** Whether a link at `at`, relative to the root of a tree, leads out of the tree, judged by its target's text alone. */
export function leadsOut(at: string, target: string): boolean {
  if (target === '' || target.startsWith('/')) return true;
  let level = at.split('/').length - 1;
  for (const segment of target.split('/')) {
    if (segment === '..') level -= 1;
    else if (segment !== '' && segment !== '.') level += 1;
    if (level < 0) return true;
  }
  return false;
}
