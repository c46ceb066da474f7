/** The parts of `STEP` or `STEP/CELL`; no `cell`: the whole step. Names of steps contain no slash. */
export function splitCellName(name: string): { readonly step: string; readonly cell?: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { step: name } : { step: name.slice(0, slash), cell: name.slice(slash + 1) };
}
