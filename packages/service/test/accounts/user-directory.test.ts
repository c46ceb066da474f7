import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openUserDirectory } from '../../src/accounts/user-directory.ts';

test('openUserDirectory loses no change of concurrent operators', async () => {
  const root = mkdtempSync(join(tmpdir(), 'sluice-users-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const operators = [await openUserDirectory(root), await openUserDirectory(root)];
  const email = 'ada@example.org';
  const added = await Promise.allSettled(operators.map((users) => users.add({ email, password: 'x' })));
  expect(added.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const accounts = Array.from({ length: 10 }, (_, i) => ({ clusterID: 'main', accountID: `a${i}` }));
  await Promise.all(accounts.map((account, i) => operators[i % 2]!.grant(email, account)));
  const [seen] = operators[0]!.list();
  expect(seen!.accounts.map(({ accountID }) => accountID).toSorted()).toEqual(accounts.map((it) => it.accountID));
  for (const users of operators) await users.close();
});
