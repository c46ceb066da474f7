// Usage: node scripts/write-llms-text.mjs   Writes packages/cli/llms.txt, a part of the npm package, from the documentation.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLlmsText } from './llms-text.mjs';
import { ROOT } from './workspace.mjs';

writeFileSync(join(ROOT, 'packages/cli/llms.txt'), createLlmsText(ROOT));
