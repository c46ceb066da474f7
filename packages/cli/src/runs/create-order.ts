import { resolve } from 'node:path';
import type { RunOrder } from '@sluice/run';
import { selectHostedOptions } from '../connect/hosted-options.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { PipelineFileOptions } from '../pipeline/load-plan.ts';

/** The options of `sluice run` that belong to a run, so that a rerun has them too. */
export interface OrderOptions extends GlobalOptions, PipelineFileOptions {
  readonly parallelism?: number;
  readonly stopAtApproval?: boolean;
  /** Execute the run on this machine, although the server of its service could. */
  readonly here?: boolean;
}

/**
 * What a command was asked for, which its run records: `params` are the values that it has read. Paths are absolute, so that they hold in every directory; a profile
 * that is named stays a name. Variables that select the service become options: a rerun uses it again, whatever its own
 * variables say.
 */
export function createOrder(
  file: string,
  {
    params,
    context,
    options,
  }: { params: RunOrder['params']; context: Pick<CommandContext, 'cwd' | 'env'>; options: OrderOptions },
): RunOrder {
  const { cwd } = context;
  const { label, root, ignoreImages, parallelism, here, stopAtApproval } = options;
  return {
    file: resolve(cwd, file),
    params,
    ...(label && { labels: label }),
    ...(root !== undefined && { root: resolve(cwd, root) }),
    ...(ignoreImages === true && { ignoreImages }),
    ...(parallelism !== undefined && { parallelism }),
    ...(here === true && { here }),
    ...(stopAtApproval === true && { stopAtApproval }),
    ...selectHostedOptions(options, context),
  };
}

/** The options of a command that executes an order. */
export function orderOptions({
  file: _,
  params,
  labels,
  ...options
}: RunOrder): OrderOptions & { readonly param: RunOrder['params'] } {
  return { ...options, param: params, ...(labels && { label: labels }) };
}
