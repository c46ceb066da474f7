/**
 * The directories of the agents of an allocation. That of the first node is the allocation's; the others are beside it, because
 * the user of the account could replace what is in it.
 */
export function nodeDirectories(directory: string, nodes: number): string[] {
  return Array.from({ length: nodes }, (_, number) => (number === 0 ? directory : `${directory}.${number}`));
}
