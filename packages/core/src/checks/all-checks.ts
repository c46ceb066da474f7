import { checkAxes } from './check-axes.ts';
import { checkCapacity } from './check-capacity.ts';
import type { Check } from './check-context.ts';
import { checkCycles } from './check-cycles.ts';
import { checkEach } from './check-each.ts';
import { checkEdges } from './check-edges.ts';
import { checkEnvironments } from './check-environments.ts';
import { checkExpressions } from './check-expressions.ts';
import { checkForeignTemplates } from './check-foreign-templates.ts';
import { checkLabels } from './check-labels.ts';
import { checkListedAxes } from './check-listed-axes.ts';
import { checkMatrices } from './check-matrices.ts';
import { checkMounts } from './check-mounts.ts';
import { checkNames } from './check-names.ts';
import { checkNeeds } from './check-needs.ts';
import { checkNotify } from './check-notify.ts';
import { checkOutputs } from './check-outputs.ts';
import { checkParams } from './check-params.ts';
import { checkPlacement } from './check-placement.ts';
import { checkPools } from './check-pools.ts';
import { checkPrograms } from './check-programs.ts';
import { checkPublishing } from './check-publishing.ts';
import { checkResults } from './check-results.ts';
import { checkRetries } from './check-retries.ts';
import { checkSchedule } from './check-schedule.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkServiceEnds } from './check-service-ends.ts';
import { checkServices } from './check-services.ts';
import { checkShellSyntax } from './check-shell-syntax.ts';
import { checkTemporary } from './check-temporary.ts';
import { checkTimeouts } from './check-timeouts.ts';
import { checkVariables } from './check-variables.ts';
import { checkVolumes } from './check-volumes.ts';
import { checkWrittenPaths } from './check-written-paths.ts';

/** All checks of a file with a valid shape. Their order is irrelevant: faults are sorted by position. */
export const ALL_CHECKS: readonly Check[] = [
  checkNames,
  checkParams,
  checkPrograms,
  checkShellSyntax,
  checkWrittenPaths,
  checkEdges,
  checkEnvironments,
  checkNeeds,
  checkCycles,
  checkMounts,
  checkOutputs,
  checkTemporary,
  checkExpressions,
  checkForeignTemplates,
  checkMatrices,
  checkAxes,
  checkEach,
  checkListedAxes,
  checkResults,
  checkRetries,
  checkTimeouts,
  checkPools,
  checkServices,
  checkServiceEnds,
  checkCapacity,
  checkSecrets,
  checkVariables,
  checkVolumes,
  checkPublishing,
  checkPlacement,
  checkNotify,
  checkLabels,
  checkSchedule,
];
