interface PageButtonsProps {
  /** Of each page up to the one that is shown, the token. */
  readonly pages: readonly (string | undefined)[];
  /** The token of the next page; undefined on the last one. */
  readonly next: string | undefined;
  readonly onChange: (pages: readonly (string | undefined)[]) => void;
}

/** Buttons for the previous and the next page of a list; nothing if it has one page. */
export function PageButtons({ pages, next, onChange }: PageButtonsProps) {
  if (pages.length === 1 && next === undefined) return null;
  return (
    <div class="buttons">
      {pages.length > 1 && (
        <button type="button" onClick={() => onChange(pages.slice(0, -1))}>
          Previous page
        </button>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => onChange([...pages, next])}>
          Next page
        </button>
      )}
    </div>
  );
}
