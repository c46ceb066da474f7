import type { HistoryEntry } from './history.ts';

/**
 * An event that is impossible in the present state: a bug in the shell, or the journal of another plan. Contains the
 * cell's history.
 */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
  readonly code = 'ILLEGAL_MOVE';
  readonly history: readonly HistoryEntry[];

  constructor(message: string, history: readonly HistoryEntry[]) {
    super(`${message}${renderHistory(history)}`);
    this.history = history;
  }
}

function renderHistory(history: readonly HistoryEntry[]): string {
  if (history.length === 0) return '; it has not moved yet';
  const moves = history.map(
    (move) => `  ${move.at} attempt ${move.attempt}: ${move.from} -> ${move.to} (${move.cause})`,
  );
  return `; its moves so far:\n${moves.join('\n')}`;
}
