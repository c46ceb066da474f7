/** The key of a transfer in `RunFacts.transferred`. */
export function transferKey({ to, path }: { readonly to: string; readonly path: string }): string {
  return `${to}:${path}`;
}
