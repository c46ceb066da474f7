import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readStaticFiles, type StaticFile } from '@sluice/host';

const MISSING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sluice</title>
<p>The files of the dashboard are not built. Build them in the directory of Sluice with: npm run setup
</html>
`;

/** The files of the dashboard; a page that says how to build them if they are missing. */
export function readDashboard(): ReadonlyMap<string, StaticFile> {
  try {
    const manifest = createRequire(import.meta.url).resolve('@sluice/dashboard/package.json');
    return readStaticFiles(join(dirname(manifest), 'dist'));
  } catch {
    return new Map([['/index.html', { bytes: Buffer.from(MISSING), type: 'text/html; charset=utf-8' }]]);
  }
}
