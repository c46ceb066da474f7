import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, isIPv4 } from 'node:net';
import { fail, ok, type Result } from '@sluice/core';
import type { Notifier } from '@sluice/runner';
import type { WebhookRules } from './webhook-rules.ts';

const WEBHOOK_MS = 10_000;

/** Resolves a name to all its addresses. */
type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Sends webhooks on behalf of users of a server: only to allowed addresses, each resolved once and connected to as
 * resolved, without redirects. What the receiver answers besides its status is not read. Runs no commands.
 */
export function createRestrictedNotifier(
  rules: () => WebhookRules,
  { resolve = resolveName }: { readonly resolve?: Resolve } = {},
): Notifier {
  return {
    async post(text, content) {
      const url = URL.parse(text);
      if (url === null || !['http:', 'https:'].includes(url.protocol)) return fail('it is not a URL of http or https');
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const found = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
      const [address] = found;
      if (address === undefined) return fail(`could not resolve ${host}`);
      // One forbidden address among several would be reached by a retry.
      const denied = found.find((one) => !rules().isAllowed(host, one));
      if (denied !== undefined)
        return fail(`the operator of the server does not allow webhooks to ${host} (${denied})`);
      return send(url, { address, body: JSON.stringify(content) });
    },
    run: async () => fail('a server runs no commands; use `webhook`'),
  };
}

async function resolveName(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function send(
  url: URL,
  { address, body }: { readonly address: string; readonly body: string },
): Promise<Result<void, string>> {
  return new Promise((resolve) => {
    const family = isIPv4(address) ? 4 : 6;
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal: AbortSignal.timeout(WEBHOOK_MS),
      // The name is not resolved a second time, to what might be another address.
      lookup: (_, { all }, done) => (all ? done(null, [{ address, family }]) : done(null, address, family)),
    });
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      response.destroy();
      resolve(statusCode >= 200 && statusCode < 300 ? ok(undefined) : fail(`it answered ${statusCode}`));
    });
    request.on('error', (error) => resolve(fail(error.message)));
    request.end(body);
  });
}
