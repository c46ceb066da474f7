import {
  type DifferenceGroup,
  type PartDifference,
  printableData,
  type SourceFileDifference,
  type StepDifference,
} from '@sluice/run';
import type { Terminal } from '../context/terminal.ts';

const SHORT = 12;
const MAX_NAMES = 5;

/** The output of `sluice why --against`: the answer first, then every difference up to its first cause. */
export function renderDifference(given: StepDifference, { style }: Pick<Terminal, 'style'>): string {
  const { message, groups, groupCount, places, cellCount, comparedCount } = printableData(given);
  const shown = new Set<number>();

  function renderPlace(index: number, indent: string): string[] {
    const place = places[index]!;
    const isShown = shown.has(index);
    shown.add(index);
    if (isShown) return [`${indent}${place.message} (see above)`];
    const more = place.partCount - place.parts.length;
    return [
      `${indent}${place.message}`,
      ...place.parts.flatMap((part) => renderPart(part, `${indent}  `)),
      ...(more > 0 ? [`${indent}  and ${more} other parts`] : []),
    ];
  }

  function renderPart(part: PartDifference, indent: string): string[] {
    const { files = [], fileCount = 0, place } = part;
    if (part.kind === 'cells' && place !== undefined) return renderPlace(place, indent);
    const more = fileCount - files.length;
    return [
      `${indent}${part.message}`,
      ...files.map((file) => `${indent}  ${renderFile(file)}`),
      ...(more > 0 ? [`${indent}  and ${more} other files`] : []),
      ...(place === undefined ? [] : renderPlace(place, `${indent}  `)),
    ];
  }

  function renderGroup(group: DifferenceGroup): string[] {
    if (cellCount === 1 && group.place === undefined) return [];
    const head = cellCount > 1 ? [style('bold', `${countCells(group)}: ${nameCells(group)}`)] : [];
    if (group.place === undefined) return [...head, `  ${group.message}`];
    // The answer says all about it.
    if (cellCount === 1 && places[group.place]!.parts.length === 0) return [];
    return [...head, ...renderPlace(group.place, '  ')];
  }

  const omitted = cellCount - comparedCount;
  const lines = [
    style('bold', message),
    ...groups.map(renderGroup).flatMap((group) => (group.length === 0 ? [] : ['', ...group])),
    ...(groupCount > groups.length ? ['', `and ${groupCount - groups.length} other groups of cells`] : []),
    ...(omitted > 0 ? ['', `${omitted} cells were not compared: at most 10,000 are`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const VERDICTS = {
  different: ['differs', 'differ'],
  repeated: ['did the same work again', 'did the same work again'],
  same: ['is the same', 'are the same'],
  added: ['is new', 'are new'],
  removed: ['was removed', 'were removed'],
  unknown: ['cannot be compared', 'cannot be compared'],
} as const;

function countCells({ cellCount, verdict }: DifferenceGroup): string {
  const [one, many] = VERDICTS[verdict];
  return cellCount === 1 ? `1 cell ${one}` : `${cellCount} cells ${many}`;
}

function nameCells({ cells, cellCount }: DifferenceGroup): string {
  const named = cells.slice(0, MAX_NAMES);
  return `${named.join(', ')}${cellCount > named.length ? `, and ${cellCount - named.length} more` : ''}`;
}

function renderFile({ path, kind, before, after }: SourceFileDifference): string {
  const [old, now] = [before?.slice(0, SHORT), after?.slice(0, SHORT)];
  const hashes = old !== undefined && now !== undefined ? `${old}… → ${now}…` : `${now ?? old}…`;
  return `${path}  ${kind}  SHA-256 ${hashes}`;
}
