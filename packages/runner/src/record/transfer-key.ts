/** What a transfer is known by in the journal. */
export function transferKey({ to, path }: { readonly to: string; readonly path: string }): string {
  return `${to}:${path}`;
}
