// The shapes of the server, under the names the page uses. `npm run types` generates `api.d.ts` from the server's OpenAPI.

import type { components } from "../api";

type Schemas = components["schemas"];

export type AgentDetail = Schemas["AgentDetail"];
export type AgentState = Schemas["AgentState"];
export type Answer = Schemas["Answer"];
export type Area = Schemas["Area"];
export type Believed = Schemas["Believed"];
export type Character = Schemas["Character"];
export type Delta = Schemas["Delta"];
export type EventLine = Schemas["EventLine"];
export type Checked = Schemas["Checked"];
export type Finding = Schemas["Finding"];
export type FoundMemory = Schemas["FoundMemory"];
export type Frames = Schemas["Frames"];
export type Hour = Schemas["Hour"];
export type GoalRow = Schemas["GoalRow"];
export type Item = Schemas["Item"];
export type Mark = Schemas["Mark"];
export type Memories = Schemas["Memories"];
export type Metrics = Schemas["Metrics"];
export type NewRun = Schemas["NewRun"];
export type CircumstanceState = Schemas["CircumstanceState"];
export type ObjectState = Schemas["ObjectState"];
export type PastRow = Schemas["PastRow"];
export type Problem = Schemas["Problem"];
export type RunCard = Schemas["RunCard"];
export type ScenarioCard = Schemas["ScenarioCard"];
export type SeedFact = Schemas["SeedFact"];
export type Snapshot = Schemas["Snapshot"];
export type Speaking = Schemas["Speaking"];
export type Spread = Schemas["Spread"];
export type Status = Schemas["Status"];
export type Thing = Schemas["Thing"];
export type Tie = Schemas["Tie"];
export type Timeline = Schemas["Timeline"];
export type Town = Schemas["Town"];
