export type { Diagnostic, SourceRange } from './model/diagnostic.ts';
export type { Json } from './model/json.ts';
export type {
  Approval,
  Cache,
  Concurrency,
  FailureClass,
  Input,
  JsonTemplate,
  Matrix,
  NamedVolume,
  Need,
  NeedCondition,
  Notify,
  Output,
  Param,
  ParamType,
  Pipeline,
  PipelineOutput,
  Placement,
  Resources,
  ResultSpec,
  ResultType,
  Retry,
  Schedule,
  ServiceStep,
  Step,
  Template,
} from './model/pipeline.ts';
export type { Cell, Plan, PlannedDependency, PlannedStep } from './model/plan.ts';
export { fail, ok, type Result } from './model/result.ts';
