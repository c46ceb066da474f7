/** A state in words, for example `timed out` or `awaiting approval`. */
export function stateWords(state: string): string {
  return state.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
