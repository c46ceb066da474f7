/** An address in the parts that requests need. */
export interface Address {
  readonly origin: string;
  /** Without a trailing slash. */
  readonly path: string;
}

/** Parses an http(s) address. Throws `TypeError`, which calls the address `name`, if it is another or carries more. */
export function parseAddress(name: string, text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new TypeError(`${name} must be an http or https URL`);
  if (url.username !== '' || url.password !== '') throw new TypeError(`${name} must not carry user and password`);
  if (url.search !== '' || url.hash !== '') throw new TypeError(`${name} must not carry a query or fragment`);
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
