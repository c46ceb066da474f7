import { FAILED } from './statuses.ts';

/** The cells of a step, those that failed first, otherwise in order. */
export function failedFirst(codes: Uint8Array): readonly number[] {
  const [failed, others]: [number[], number[]] = [[], []];
  codes.forEach((code, cell) => void (code === FAILED ? failed : others).push(cell));
  return failed.concat(others);
}
