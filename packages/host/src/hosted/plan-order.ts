import {
  createPlan,
  type Diagnostic,
  fail,
  ignoreImages,
  limitParallelism,
  ok,
  own,
  type Plan,
  parsePipeline,
  type Result,
  renderDiagnostic,
} from '@sluice/core';
import type { z } from 'zod';
import type { orderBody } from '../schemas/order.ts';

/** What the plan of an order depends on. */
export type PlannedOrder = Pick<z.output<typeof orderBody>, 'order' | 'pipeline' | 'files'>;

/** Plans the run of an order. The error describes what is wrong with its texts or parameters. */
export type PlanOrder = (order: PlannedOrder) => Promise<Result<Plan, string>>;

/** Errors that are described; there may be thousands. */
const MAX_SHOWN = 20;

/** Reads no file: every text is part of the order. */
export function planOrder({ order, pipeline, files = {} }: PlannedOrder): Result<Plan, string> {
  const { file, texts } = pipeline;
  const text = own(texts, file);
  if (text === undefined) return fail(`the text of ${file} is missing`);
  const read = (name: string) => {
    const found = own(texts, name);
    return found === undefined ? fail('it was not sent with the order') : ok(found);
  };
  const parsed = parsePipeline({ text, file, read });
  if (!parsed.ok) return fail(describe(parsed.error, texts));
  const planned = createPlan(parsed.value.pipeline, { params: order.params, labels: order.labels ?? {}, files });
  if (!planned.ok) return fail(describe(planned.error, texts));
  if (order.ignoreImages !== true) return ok(limitParallelism(planned.value, order.parallelism));
  const { plan, bare } = ignoreImages(planned.value);
  const [first] = bare;
  if (first !== undefined) return fail(`step ${first.name} has nothing to run without its image`);
  return ok(limitParallelism(plan, order.parallelism));
}

function describe(diagnostics: readonly Diagnostic[], texts: Readonly<Record<string, string>>): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, MAX_SHOWN).map((one) => {
    const text = one.range && own(texts, one.range.file);
    return renderDiagnostic(one, text === undefined ? {} : { text });
  });
  const more = errors.length - shown.length;
  return `${shown.join('\n\n')}${more > 0 ? `\n\nand ${more} more errors` : ''}`;
}
