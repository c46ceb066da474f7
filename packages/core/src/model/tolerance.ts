/** How many failed cells a step tolerates: all or none, a number of them, or a percentage such as `5%`. */
export type Tolerance = boolean | number | string;

/** The number of failed cells that are tolerated among this many cells, of a step or of a directory of its cells. */
export function toleratedFailures(tolerance: Tolerance, cells: number): number {
  if (typeof tolerance === 'boolean') return tolerance ? Infinity : 0;
  if (typeof tolerance === 'number') return tolerance;
  // In hundredths, so that 0.07% of 10,000 cells are 7 and not 6.999.
  return Math.floor((Math.round(Number.parseFloat(tolerance) * 100) * cells) / 10_000);
}
