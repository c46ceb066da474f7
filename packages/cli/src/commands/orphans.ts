import { cancelOrphans, findOrphans, type Orphan } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { adviseAdoption } from '../context/reject.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { renderValue } from '../json/render-value.ts';
import { label } from '../render/render-event.ts';
import { renderTable } from '../text/render-table.ts';

/** Options of `sluice orphans`. */
export interface OrphansOptions extends GlobalOptions {
  /** Cancel the orphans of finished runs, and those of `run`. */
  readonly cancel?: boolean;
  /** The complete ID of a run, which this home need not know: only its orphans. */
  readonly run?: string;
}

/** `sluice orphans`: lists containers that no run of this home will use again. */
export async function orphans(context: CommandContext, options: OrphansOptions): Promise<number> {
  return withService({ context, options }, (opened) => sweep(opened, context, options));
}

async function sweep(
  { service, scope, home }: HomeService,
  context: CommandContext,
  options: OrphansOptions,
): Promise<number> {
  const { terminal } = context;
  const { run: runId } = options;
  const all = await findOrphans({ service, scope, home });
  const orphans = runId === undefined ? all : all.filter((orphan) => orphan.runId === runId);
  const canceled = options.cancel ? await cancelOrphans({ service, scope, home }, { orphans, runId }) : [];
  const isCanceled = new Set(canceled.map(({ containerId }) => containerId));
  if (options.json === true) {
    for (const orphan of orphans) {
      const { createTime = '', ...others } = orphan;
      const createdAt = Date.parse(createTime);
      const created = Number.isNaN(createdAt) ? {} : { createdAt: new Date(createdAt).toISOString() };
      const canceled = isCanceled.has(orphan.containerId);
      terminal.out(renderValue('orphan', { ...others, ...created, canceled }));
    }
    return EXIT_CODE.ok;
  }
  if (orphans.length === 0) {
    terminal.out('no orphaned containers found\n');
    return EXIT_CODE.ok;
  }
  const rows = orphans.map((orphan) => [
    orphan.runId,
    label(orphan.step, orphan.cell),
    String(orphan.attempt),
    isCanceled.has(orphan.containerId) ? 'canceling' : orphan.phase,
    RUN_LABELS[orphan.run],
  ]);
  terminal.out(renderTable([['RUN', 'STEP', 'ATTEMPT', 'PHASE', ''], ...rows]));
  const [left] = orphans.filter(({ containerId }) => !isCanceled.has(containerId));
  if (left) terminal.out(`${adviseOn(left, options)}\n`);
  return EXIT_CODE.ok;
}

const RUN_LABELS: Readonly<Record<Orphan['run'], string>> = {
  ended: 'its run has ended',
  unknown: 'this home has no such run; another home may have it',
};

function adviseOn({ run, runId }: Orphan, options: OrphansOptions): string {
  if (run === 'ended') return `cancel them with: ${suggestCommand(['orphans', '--cancel'], options)}`;
  const cancel = suggestCommand(['orphans', '--cancel', '-r', runId], options);
  return `${adviseAdoption(runId, options)}; or cancel its containers with: ${cancel}`;
}
