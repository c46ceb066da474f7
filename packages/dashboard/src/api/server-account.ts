/** An account of a server, whose page this is. */
export interface ServerAccount {
  /** As `CLUSTER/ACCOUNT`. */
  readonly name: string;
  /** The page with the accounts of the user, which also logs in and out. */
  readonly url: string;
}

/** The account of the page at a URL; undefined for the page of a home, which `sluice ui` serves. */
export function findAccount(pageUrl: string): ServerAccount | undefined {
  const url = new URL(pageUrl);
  const [, cluster, account] = /\/ui\/([^/]+)\/([^/]+)\/$/.exec(url.pathname) ?? [];
  if (cluster === undefined || account === undefined) return undefined;
  return { name: `${decodeURIComponent(cluster)}/${decodeURIComponent(account)}`, url: new URL('../../', url).href };
}

/** The page that logs in and then leads back to the page at a URL; undefined for the page of a home. */
export function loginUrl(pageUrl: string): string | undefined {
  const account = findAccount(pageUrl);
  if (account === undefined) return undefined;
  const url = new URL(account.url);
  url.hash = '';
  url.searchParams.set('to', `${account.name}/${new URL(pageUrl).hash}`);
  return url.href;
}
