/** One condition of an `If` header: a lock token or entity tag that the resource must have, or must not have. */
export type IfCondition =
  | { readonly kind: 'token'; readonly token: string; readonly not: boolean }
  | { readonly kind: 'etag'; readonly etag: string; readonly not: boolean };

/** Conditions that must all hold; `tag` is the URI of the resource, undefined for the request's own. */
export interface IfList {
  readonly tag: string | undefined;
  readonly conditions: readonly IfCondition[];
}

const TOKEN = /\s*(?:(<[^<>\s]*>)|(\()|(\))|(\[(?:W\/)?"[^"]*"\])|(Not\b))\s*/iy;

/** Parses an `If` header (RFC 4918, 10.4); undefined if it is malformed. */
export function parseIfHeader(text: string): IfList[] | undefined {
  const lists: IfList[] = [];
  let tag: string | undefined;
  let conditions: IfCondition[] | undefined;
  let not = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [, angle, open, close, etag] = match;
    if (conditions === undefined) {
      if (angle !== undefined) tag = angle.slice(1, -1);
      else if (open !== undefined) conditions = [];
      else return undefined;
    } else if (close !== undefined) {
      if (conditions.length === 0 || not) return undefined;
      lists.push({ tag, conditions });
      conditions = undefined;
    } else if (angle !== undefined || etag !== undefined) {
      if (angle !== undefined) conditions.push({ kind: 'token', token: angle.slice(1, -1), not });
      else conditions.push({ kind: 'etag', etag: (etag as string).slice(1, -1), not });
      not = false;
    } else if (open === undefined && !not) not = true;
    else return undefined;
  }
  return conditions === undefined && lists.length > 0 ? lists : undefined;
}
