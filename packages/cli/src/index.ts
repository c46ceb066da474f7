export { type ContainerService, createHttpService, isServiceError, type Login, type Scope } from '@sluice/client';
export {
  createPlan,
  type Diagnostic,
  expression,
  type PipelineBuilder,
  type Plan,
  type PlanGraph,
  parsePipeline,
  pipeline,
  planGraph,
  type Result,
  renderDiagnostic,
  type StepEdge,
  type StepHandle,
  type StepNode,
  selectSteps,
} from '@sluice/core';
export {
  cancelRun,
  listRuns,
  pullOutput,
  type Reporter,
  type RunHandle,
  type RunnerEvent,
  type RunRefusal,
  type RunReport,
  type RunSummary,
  readRun,
  resumeRun,
  type StartRunOptions,
  startRun,
} from '@sluice/runner';
export { unwrap } from './unwrap.ts';
