export type { ContainerService, Login, Scope } from '@sluice/client';
export {
  type CheckedPipeline,
  type Diagnostic,
  type ExpressionHandle,
  expression,
  type OutputHandle,
  type OutputPathHandle,
  type PipelineBuilder,
  type Plan,
  type PlanGraph,
  pipeline,
  pipelineJsonSchema,
  planGraph,
  type Result,
  type ResultHandle,
  renderDiagnostic,
  SluiceError,
  type StepConfig,
  type StepEdge,
  type StepHandle,
  type StepNode,
  selectSteps,
  type VolumeHandle,
} from '@sluice/core';
export type { RunnerEvent, RunReport, RunSummary, SiteLimits, StepExplanation } from '@sluice/run';
export type { TraceSink } from '@sluice/runner';
export { type AttachedRun, type AttachOptions, attach } from './library/attach.ts';
export {
  type Connection,
  type ConnectOptions,
  connectService,
  openEmbeddedService,
  openService,
  type ServiceOptions,
} from './library/connection.ts';
export { isSluiceError, type SluiceErrorCode } from './library/error-code.ts';
export { execute, safeExecute } from './library/execute.ts';
export {
  createPlan,
  type LoadOptions,
  loadPipeline,
  parsePipeline,
  safeCreatePlan,
  safeLoadPipeline,
  safeParsePipeline,
} from './library/parse.ts';
export { type PulledOutput, pullOutput } from './library/pull-output.ts';
export { resume, run, safeResume, safeRun } from './library/run.ts';
export type { RunHandle } from './library/run-handle.ts';
export type { ExecutionOptions, ResumeOptions, RunOptions, SubmitOptions } from './library/run-options.ts';
export type { DeclaredResults, ResultsOf, RunResult } from './library/run-result.ts';
export {
  approveRun,
  cancelRun,
  explainStep,
  type HomeOptions,
  listRuns,
  readRun,
  reportRun,
  suspendRun,
} from './library/runs.ts';
export { type SubmittedRun, submit } from './library/submit.ts';
