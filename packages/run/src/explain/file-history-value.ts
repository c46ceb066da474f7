import { renderTimes } from '../report/json-times.ts';
import type { FileHistory } from '../schemas/file-history.ts';

/** The history of a file in JSON, with times in RFC 3339. */
export function fileHistoryValue(history: FileHistory) {
  return { ...history, makers: history.makers.map(renderTimes), uses: history.uses.map(renderTimes) };
}
