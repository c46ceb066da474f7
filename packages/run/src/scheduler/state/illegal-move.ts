import type { StoryEntry } from './story.ts';

/**
 * An event that is impossible in the present state: a bug in the shell, or the journal of another plan. Contains the
 * cell's story.
 */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
  readonly code = 'ILLEGAL_MOVE';
  readonly story: readonly StoryEntry[];

  constructor(message: string, story: readonly StoryEntry[]) {
    super(`${message}${renderStory(story)}`);
    this.story = story;
  }
}

function renderStory(story: readonly StoryEntry[]): string {
  if (story.length === 0) return '; it has not moved yet';
  const moves = story.map((move) => `  ${move.at} attempt ${move.attempt}: ${move.from} -> ${move.to} (${move.cause})`);
  return `; its moves so far:\n${moves.join('\n')}`;
}
