/** A cell as commands name it: `STEP/CELL`, or `STEP` of a plain step. */
export function cellLabel({ step, cell }: { readonly step: string; readonly cell: string }): string {
  return cell === '' ? step : `${step}/${cell}`;
}
