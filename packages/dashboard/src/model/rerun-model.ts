import type { ActionReply } from '@sluice/host';
import { createRunModel, type RunModel } from './run-model.ts';

type Preview = Pick<ActionReply, 'run' | 'reused' | 'steps'>;

/** What a rerun would do, in the form of the states of a run. */
export interface RerunModel {
  readonly model: RunModel;
  /** 0 for each step that the rerun does not have. */
  readonly shown: Uint8Array;
}

/** The letters of the states that stand for a reused, a skipped and an executed cell. */
const [REUSED, SKIPPED, RUN] = ['e', 'k', 'r'] as const;

/** The cells of each step of the old plan: first those that are reused, then those that are skipped, then those that run. */
export function createRerunModel(steps: readonly { readonly step: string }[], preview: Preview): RerunModel {
  const known = new Map(preview.steps?.map((one) => [one.step, one]));
  const run = new Set(preview.run);
  const isKnown = new Set([...(preview.run ?? []), ...(preview.reused ?? [])]);
  const states = steps.map(({ step }) => {
    const one = known.get(step);
    if (one === undefined) return isKnown.has(step) && run.has(step) ? RUN : '';
    const { reused, skipped, cells = reused + skipped + 1 } = one;
    return REUSED.repeat(reused) + SKIPPED.repeat(skipped) + RUN.repeat(cells - reused - skipped);
  });
  return {
    model: createRunModel({ position: 0, states }),
    shown: Uint8Array.from(steps, ({ step }) => (isKnown.has(step) ? 1 : 0)),
  };
}

/** What happens to a step, in words. */
export function rerunWords(step: string, { run, reused, steps }: Preview): string {
  const one = steps?.find((known) => known.step === step);
  if (one === undefined) {
    if (run?.includes(step)) return 'is run';
    return reused?.includes(step) ? 'is reused' : 'is not in the pipeline any more';
  }
  const { cells, reason } = one;
  const parts = [
    ...(one.reused > 0 ? [`${one.reused} ${one.reused === 1 ? 'cell is' : 'cells are'} reused`] : []),
    ...(one.skipped > 0 ? [`${one.skipped} skipped`] : []),
    ...(cells === undefined || cells > one.reused + one.skipped
      ? [`${cells === undefined ? 'its cells' : cells - one.reused - one.skipped} run`]
      : []),
  ];
  const what =
    cells === 1 ? (one.reused === 1 ? 'is reused' : one.skipped === 1 ? 'is skipped' : 'is run') : parts.join(', ');
  return reason === '' ? what : `${what}: ${reason}`;
}
