export {
  type Batches,
  batchesOfPlan,
  createBatches,
  listedCell,
  listedSteps,
  listingIndex,
  plannedCell,
} from './axes/batches.ts';
export { bindListed, boundEdges, forEachBound, UNBOUND_ITEM } from './axes/bind-listed.ts';
export { axisKey, cellPath, describeAxes, groupPath, nameInDirectory, placeInVolume } from './axes/cell-layout.ts';
export type { CellValues, KeyValues } from './axes/cell-values.ts';
export { expandEach } from './axes/expand-each.ts';
export { axesOfStep, matchAxes } from './axes/implied-axes.ts';
export { hasLateValues, lateKeys, withLateValues } from './axes/late-values.ts';
export { listedAxis, namedAxes } from './axes/listed-axes.ts';
export {
  type BoundItem,
  type BoundItems,
  type CellMatch,
  cellsOfGroup,
  groupsOf,
  isMatched,
  matchedCells,
  matchOf,
  placesInList,
  placesOf,
} from './axes/match-cells.ts';
export type { AxisFiles } from './axes/plan-axes.ts';
export {
  type CellsOfStep,
  escalationOfCells,
  resourcesOfCells,
  retriesOfCells,
  valuesOfCell,
} from './axes/values-of-cell.ts';
export type { AxisHandle, FileItem, FilesConfig, ItemHandle } from './builder/axes.ts';
export type { CellHandles, CellsConfig, MatrixShape, Widen } from './builder/cells.ts';
export { type ExpressionHandle, expression } from './builder/expression-handle.ts';
export { pipeline } from './builder/pipeline.ts';
export type {
  BuildError,
  BuildOptions,
  PipelineBuilder,
  PipelineConfig,
  ResultValues,
} from './builder/pipeline-builder.ts';
export type { PlacementConfig, ResourcesConfig, RetryConfig, StepConfig } from './builder/step-config.ts';
export type {
  EachStepHandle,
  OutputHandle,
  OutputPathHandle,
  ResultHandle,
  StepHandle,
  VolumeHandle,
} from './builder/step-handle.ts';
export { describeUnknown, suggestName } from './checks/nearest-name.ts';
export type { Doubles } from './expressions/doubles.ts';
export { evaluateTogether, limitPlan } from './expressions/evaluation-scope.ts';
export { namesInTemplate } from './expressions/names-in-template.ts';
export { type PlanGraph, planGraph, type StepEdge, type StepMount, type StepNode } from './graph/plan-graph.ts';
export { type StepSelection, selectSteps } from './graph/select-steps.ts';
export type { CellTemplates, PlacementTemplates, ResourceTemplates, RetryTemplates } from './model/cell-templates.ts';
export type { Diagnostic, SourceRange } from './model/diagnostic.ts';
export type { DockerOptions, PullPolicy, SlurmOptions, Ulimit } from './model/engine-options.ts';
export { findPatternFault, MAX_PATTERNS } from './model/find-pattern-fault.ts';
export { guardArguments, isObject, requireArgument } from './model/guard-arguments.ts';
export type { Json } from './model/json.ts';
export { jsonFault } from './model/json-fault.ts';
export { isOfType, type JsonType } from './model/json-type.ts';
export { describeLargeInteger, findLargeInteger } from './model/large-integer.ts';
export { own } from './model/own.ts';
export type { BoundValue, Param } from './model/param.ts';
export {
  type Approval,
  type Axis,
  type Cache,
  type Concurrency,
  FAILURE_CLASSES,
  type FailureClass,
  type Input,
  isFannedOutStep,
  type Matrix,
  type NamedVolume,
  NEED_CONDITIONS,
  type Need,
  type NeedCondition,
  type Notify,
  type Output,
  type Pipeline,
  type PipelineOutput,
  type PipelineResult,
  type Placement,
  type Resources,
  type ResultSpec,
  type Retry,
  type Schedule,
  type ServiceStep,
  type Step,
  type StepSource,
} from './model/pipeline.ts';
export type { Cell, ListedItem, Plan, PlannedAxis, PlannedDependency, PlannedStep } from './model/plan.ts';
export { fail, ok, type Result } from './model/result.ts';
export type { ResolvedContainer, RunContext, StepFacts } from './model/run-context.ts';
export { SluiceError } from './model/sluice-error.ts';
export type { StepReason, StepStatus } from './model/step-status.ts';
export type { JsonTemplate, Template } from './model/template.ts';
export { type Tolerance, toleratedFailures } from './model/tolerance.ts';
export { findSharedRead, findSharedWrite, writesToShared } from './model/writes-to-shared.ts';
export { choosesPipefail } from './parse/default-shell.ts';
export { MAX_FILE_CHARACTERS } from './parse/limits.ts';
export { type CheckedPipeline, type PipelineSource, parsePipeline } from './parse/parse-pipeline.ts';
export { bindParam } from './plan/bind-params.ts';
export { orderDependencies } from './plan/collect-dependencies.ts';
export { createPlan } from './plan/create-plan.ts';
export { MAX_CELLS } from './plan/expand-matrix.ts';
export { type BarePlan, ignoreImages } from './plan/ignore-images.ts';
export { limitParallelism } from './plan/limit-parallelism.ts';
export { planLevels } from './plan/plan-levels.ts';
export { stepsWithImages } from './plan/steps-with-images.ts';
export { invalidPipeline } from './render/invalid-pipeline.ts';
export { renderDiagnostic } from './render/render-diagnostic.ts';
export { renderDuration } from './render/render-duration.ts';
export {
  createFingerprint,
  explainDifference,
  type Fingerprint,
  type FingerprintDifference,
  type FingerprintOptions,
} from './resolve/create-fingerprint.ts';
export { resolveContainer } from './resolve/resolve-container.ts';
export { type Decision, resolveDecision } from './resolve/resolve-decision.ts';
export { resolveInputs } from './resolve/resolve-inputs.ts';
export { type Lists, resolveLists } from './resolve/resolve-lists.ts';
export { resolvePlannedText, resolveText } from './resolve/resolve-text.ts';
export { durationSchema, sizeSchema } from './schema/amount-schemas.ts';
export { createCron, cronReason } from './schema/cron.ts';
export { parseDuration } from './schema/duration.ts';
export { DURATION, SIZE } from './schema/patterns.ts';
export { pipelineJsonSchema } from './schema/pipeline-json-schema.ts';
export { parseSize } from './schema/size.ts';
export type { Columns, ColumnType, TableRow } from './tables/column-type.ts';
export { type Row, readTable, type TableText } from './tables/read-table.ts';
export { readParamsFile, readValueFile } from './tables/read-value-file.ts';
export { writeValue } from './tables/write-value.ts';
