/**
 * Holdline serves an AI agent over AG-UI 1.0 and lets it ask its human in the middle of a tool.
 *
 * @module holdline
 */
export type {
  Agent,
  AgentContext,
  AgentEvent,
  AnswerSchemas,
  Approval,
  ApprovalCall,
  ApproveOptions,
  ArgsSchema,
  AskOptions,
  AskRequest,
  InputRequired,
  SubagentRequest,
  ToolCallOptions,
  ToolContext,
} from "./core/agent.ts";
export type { JsonSchema, JsonValue, StandardSchemaV1 } from "./core/answer-schema.ts";
export type { Clock, TimerHandle } from "./core/clock.ts";
export type { InputIssue, InterruptCause } from "./core/errors.ts";
export {
  AGENT_FAILED,
  EventRefusedError,
  HoldlineError,
  HoldUnavailableError,
  InputTimeoutError,
  InterruptCancelledError,
  PromptInvalidError,
  PublicError,
  RefusalCode,
  RequestError,
  RequestErrorCode,
  TurnEndedError,
  TurnReleasedError,
} from "./core/errors.ts";
export type { Gate, Passage } from "./core/gate.ts";
export { createGate } from "./core/gate.ts";
export type { Handler, HandlerStats, HeldTurnInfo } from "./core/handle.ts";
export { createHandler } from "./core/handle.ts";
export type { HandlerOptions, HumanInputRequest, TraceEvent, Warning } from "./core/options.ts";
export type { ExchangeAnswer, ExchangeRequest, Outlet } from "./core/outlet.ts";
export type { HandleOptions } from "./core/receive.ts";
export type { ReplayedRun } from "./core/replay.ts";
