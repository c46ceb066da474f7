import type { DifferenceGroup, PartDifference, PlaceDifference, StepDifference } from '@sluice/run';
import { linkTo, portPath } from '../live/route.ts';
import { renderCount } from '../model/render-count.ts';
import { DifferenceMark } from '../parts/difference-mark.tsx';
import { nameWords } from '../parts/name-words.ts';

const SHORT_HASH = 12;
const MAX_NAMES = 8;

/** The answer, unless it is shown elsewhere, then every difference with what it comes from. */
export function DifferenceTree({ value, hasAnswer }: { value: StepDifference; hasAnswer: boolean }) {
  const { message, groups, groupCount, cellCount, comparedCount } = value;
  // Of several groups, each place is shown once.
  const shown = new Set<number>();
  return (
    <>
      {hasAnswer && <p class="answer">{nameWords(message)}</p>}
      {groups.map((group) => (
        <Group key={`${group.verdict} ${group.cells[0]}`} group={group} value={value} shown={shown} />
      ))}
      {groupCount > groups.length && <p class="soft">And {groupCount - groups.length} other groups of cells.</p>}
      {comparedCount < cellCount && (
        <p class="soft">{`${renderCount(comparedCount)} of ${renderCount(cellCount)} cells were compared.`}</p>
      )}
    </>
  );
}

interface Shown {
  readonly value: StepDifference;
  readonly shown: Set<number>;
}

function Group({ group, value, shown }: Shown & { group: DifferenceGroup }) {
  const { verdict, cells, cellCount, message, place } = group;
  const names = cells.slice(0, MAX_NAMES).join(', ');
  const more = cellCount - Math.min(cells.length, MAX_NAMES);
  return (
    <div class="difference">
      {value.cellCount > 1 && (
        <h3>
          <DifferenceMark verdict={verdict} /> {renderCount(cellCount)} {cellCount === 1 ? 'cell' : 'cells'}{' '}
          <span class="soft">{more > 0 ? `${names}, and ${renderCount(more)} more` : names}</span>
        </h3>
      )}
      {place === undefined ? (
        value.cellCount > 1 && <p>{nameWords(message)}</p>
      ) : (
        <Tree index={place} {...{ value, shown }} />
      )}
    </div>
  );
}

function Tree({ index, value, shown }: Shown & { index: number }) {
  if (value.places[index]!.parts.length === 0 && value.cellCount === 1) return null;
  return (
    <ul class="causes">
      <Place index={index} value={value} shown={shown} />
    </ul>
  );
}

function Place({ index, value, shown }: Shown & { index: number }) {
  const place = value.places[index]!;
  const isShown = shown.has(index);
  shown.add(index);
  const more = place.partCount - place.parts.length;
  return (
    <li>
      <PlaceLink runId={value.runId} place={place} />
      {isShown && <span class="soft"> (see above)</span>}
      {!isShown && place.parts.length > 0 && (
        <ul>
          {place.parts.map((part) => (
            <Part key={part.name} part={part} place={place} value={value} shown={shown} />
          ))}
          {more > 0 && <li class="soft">and {more} other parts</li>}
        </ul>
      )}
    </li>
  );
}

/** The message about a place begins with its name. */
function PlaceLink({ runId, place }: { runId: string; place: PlaceDifference }) {
  const { step, cell, cellIndex, message } = place;
  const name = cell ? `${step}/${cell}` : step;
  const path = ['runs', runId, 'steps', step, ...(cellIndex === undefined ? [] : ['cells', String(cellIndex)])];
  if (!message.startsWith(name)) return <a href={linkTo(path)}>{nameWords(message)}</a>;
  return (
    <>
      <a href={linkTo(path)}>{name}</a>
      {nameWords(message.slice(name.length))}
    </>
  );
}

function Part({ part, place, value, shown }: Shown & { part: PartDifference; place: PlaceDifference }) {
  const { message, files, fileCount = 0 } = part;
  if (part.kind === 'cells' && part.place !== undefined) return <Place index={part.place} {...{ value, shown }} />;
  return (
    <li>
      {nameWords(message)}
      <CompareFiles part={part} place={place} value={value} />
      {files !== undefined && files.length > 0 && (
        <ul class="changed-files">
          {files.map(({ path, kind, before, after }) => (
            <li key={path}>
              <DifferenceMark verdict={kind === 'changed' ? 'different' : kind} /> {nameWords(path)}{' '}
              <small class="soft id">
                {[before, after].flatMap((hash) => (hash === undefined ? [] : [hash.slice(0, SHORT_HASH)])).join(' → ')}
              </small>
            </li>
          ))}
          {fileCount > files.length && <li class="soft">and {fileCount - files.length} other files</li>}
        </ul>
      )}
      {part.place !== undefined && (
        <ul>
          <Place index={part.place} value={value} shown={shown} />
        </ul>
      )}
    </li>
  );
}

/** The files themselves may be equal although another attempt wrote them. */
function CompareFiles({ part, place, value }: { part: PartDifference; place: PlaceDifference; value: StepDifference }) {
  const name = /^inputs\.([^.]+)$/.exec(part.name)?.[1];
  const { step, cellIndex } = place;
  if (name === undefined || cellIndex === undefined || value.otherRunId === undefined) return null;
  const port = { kind: 'input', name } as const;
  const link = linkTo(portPath({ runId: value.runId, step, cell: cellIndex, port }), { with: value.otherRunId });
  return (
    <>
      {' '}
      <a class="soft" href={link}>
        compare the files
      </a>
    </>
  );
}
