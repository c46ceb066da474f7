import { replaceQuery } from '../live/route.ts';

/** How a table is sorted by a value according to the query of the URL. */
export function sortDirection(name: string, sort: string): 'ascending' | 'descending' | 'none' {
  if (sort === name) return 'ascending';
  return sort === `${name}!down` ? 'descending' : 'none';
}

const MARKS = { ascending: '▲', descending: '▼', none: '↕' } as const;

/** Sorts by a value: ascending, then descending, then as before. */
export function SortButton({ name, sort }: { name: string; sort: string }) {
  const direction = sortDirection(name, sort);
  const next = { none: name, ascending: `${name}!down`, descending: undefined }[direction];
  return (
    <button type="button" class="sort" title="Sort" onClick={() => replaceQuery({ sort: next })}>
      {name} <span aria-hidden="true">{MARKS[direction]}</span>
    </button>
  );
}
