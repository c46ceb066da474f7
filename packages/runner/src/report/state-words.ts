/** A state as people write it: `timed out`, `awaiting approval`. */
export function stateWords(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
