/** Settings that concern every tool: who may call, how often, and what is recorded. */
import type { ConnectionPlan, Json } from "../../runtime/abi/plan.js";
import type { ServePlan } from "../../runtime/abi/call.js";
import { readRate } from "../../runtime/base/rate.js";
import { accessOf, gainOf, reachOf, type ReachSurface } from "./reach.js";
import { same, show, without, type Changes } from "./change.js";

type Section = { readonly [key: string]: Json };

function section(value: Json | undefined): Section | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : undefined;
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** A catalog with the tools that its settings concern. */
interface SettingsSurface extends ReachSurface {
  readonly settings: ServePlan;
}

export function compareSettings(oldSurface: SettingsSurface, nextSurface: SettingsSurface, changes: Changes): void {
  const [old, next] = [oldSurface.settings, nextSurface.settings];
  compareRbac(oldSurface, nextSurface, changes);
  compareRates(section(old.security?.["rate_limit"]), section(next.security?.["rate_limit"]), changes);
  compareAuth(section(old.security?.["auth"]), section(next.security?.["auth"]), changes);
  compareHardening(section(old.hardening), section(next.hardening), changes);
  if (old.authoring?.define_tool !== next.authoring?.define_tool) {
    const on = next.authoring?.define_tool === true;
    changes.add(on ? "isolation-weakening" : "breaking", "authoring", on ? "callers may look at any collection and draft tools" : "describe_collection and define_tool are gone");
  }
  if (!same(old.skill, next.skill)) {
    // The skill holds what tools/list shows the same caller, and no more.
    const [before, after] = [old.skill?.name, next.skill?.name];
    changes.add(before === undefined ? "additive" : "breaking", "skill", after === undefined ? `the skill '${before}' is gone` : `the server offers the skill '${after}'${before === undefined ? "" : ` instead of '${before}'`}`);
  }
  compareObservability(old, next, changes);
  if (old.deadline_s !== next.deadline_s) changes.add("behavioural", "deadline_s", `a call may take ${next.deadline_s ?? 25} s instead of ${old.deadline_s ?? 25}`);
}

function compareAuth({ mode: had, ...before }: Section = {}, { mode: has, ...after }: Section = {}, changes: Changes): void {
  const subject = "security.auth";
  const authenticated = (mode: Json | undefined): boolean => mode !== undefined && mode !== "none";
  // Whether another issuer, key file or mode admits fewer callers cannot be seen from here.
  if (!same(before, after)) changes.add("isolation-weakening", subject, "callers are authenticated another way");
  if (had === has) return;
  const message = `mode is ${show(has)} instead of ${show(had)}`;
  if (authenticated(had) || has === "none") changes.add("isolation-weakening", subject, message);
  else changes.add(authenticated(has) ? "breaking" : "behavioural", subject, message);
}

function compareRbac(oldSurface: SettingsSurface, nextSurface: SettingsSurface, changes: Changes): void {
  const [old, next] = [section(oldSurface.settings.security?.["rbac"]), section(nextSurface.settings.security?.["rbac"])];
  const subject = "security.rbac";
  if (same(old, next)) return;
  if (old === undefined) return changes.add("breaking", subject, "roles are checked now");
  if (next === undefined) return changes.add("isolation-weakening", subject, "roles are no longer checked");
  for (const key of ["default_role", "role_claim"] as const) {
    if (!same(old[key], next[key])) changes.add("isolation-weakening", subject, `${key} is ${show(next[key])} instead of ${show(old[key])}`);
  }
  const [gone, added] = [without(texts(old["deny_tools"]), texts(next["deny_tools"])), without(texts(next["deny_tools"]), texts(old["deny_tools"]))];
  // A tool that is gone needs no denial; its replacement is compared by what it reads.
  const open = gone.filter((tool) => !Object.hasOwn(oldSurface.plans, String(tool)) || Object.hasOwn(nextSurface.plans, String(tool)));
  if (open.length > 0) changes.add("isolation-weakening", subject, `${show(open)} are no longer denied to everyone`);
  if (added.length > 0) changes.add("breaking", subject, `${show(added)} are denied to everyone now`);
  const [before, after] = [section(old["roles"]) ?? {}, section(next["roles"]) ?? {}];
  for (const role of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [had, has] = [texts(section(before[role])?.["allow"]), texts(section(after[role])?.["allow"])];
    const gained = without(has, had).map(String);
    const renamed = gained.filter((tool) => !Object.hasOwn(oldSurface.plans, tool) && Object.hasOwn(nextSurface.plans, tool) && gainOf(accessOf(nextSurface, tool), reachOf(oldSurface, role), []) === "none");
    if (renamed.length > 0 && !had.includes("*")) changes.add("additive", subject, `role '${role}' may also call ${show(renamed)}, which ${renamed.length === 1 ? "reads" : "read"} nothing that it could not read before`);
    compareRole(role, had, [gained.filter((tool) => !renamed.includes(tool)), without(had, has)], has, changes);
  }
}

function compareRole(role: string, had: readonly string[], [gained, lost]: readonly [gained: readonly string[], lost: readonly unknown[]], has: readonly string[], changes: Changes): void {
  if (gained.length > 0 && !had.includes("*")) changes.add("isolation-weakening", "security.rbac", `role '${role}' may also call ${show(gained)}`);
  if (lost.length > 0 && !has.includes("*")) changes.add("breaking", "security.rbac", `role '${role}' may no longer call ${show(lost)}`);
}

/** Calls per minute; Infinity for no limit. */
function perMinute(value: Json | undefined): number {
  if (typeof value === "number") return value > 0 ? value : Infinity;
  const rate = typeof value === "string" ? readRate(value) : null;
  return rate === null || rate.limit === 0 ? Infinity : rate.limit * (60_000 / rate.windowMs);
}

function compareRates(old: Section | undefined, next: Section | undefined, changes: Changes): void {
  const subject = "security.rate_limit";
  if (same(old, next)) return;
  if (old === undefined) return changes.add("breaking", subject, "calls are limited now");
  if (next === undefined) return changes.add("isolation-weakening", subject, "calls are no longer limited");
  for (const group of ["global", "per_principal", "per_tool"]) {
    const [before, after] = [section(old[group]) ?? {}, section(next[group]) ?? {}];
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [had, has] = [perMinute(before[key]), perMinute(after[key])];
      if (had !== has) changes.add(has > had ? "isolation-weakening" : "breaking", subject, `${group}.${key} is ${show(after[key])} instead of ${show(before[key])}`);
    }
  }
  if (!same(old["on_store_error"], next["on_store_error"])) {
    changes.add(next["on_store_error"] === "open" ? "isolation-weakening" : "behavioural", subject, `while the store is down, calls are ${next["on_store_error"] === "open" ? "let through" : "refused"}`);
  }
  if (!same(old["store"], next["store"]) || !same(old["redis_url"], next["redis_url"])) changes.add("behavioural", subject, "counters are kept elsewhere");
}

function compareHardening(old: Section | undefined, next: Section | undefined, changes: Changes): void {
  const subject = "profiles.enterprise";
  if (same(old, next)) return;
  if (old === undefined) return changes.add("breaking", subject, "the hardening profile is on now");
  if (next === undefined) return changes.add("isolation-weakening", subject, "the hardening profile is off now");
  for (const key of ["disable_authoring", "disable_meta_tools", "require_tenancy"]) {
    if (old[key] !== next[key]) changes.add(next[key] === true ? "breaking" : "isolation-weakening", subject, `${key} is ${show(next[key])} now`);
  }
  const [had, has] = [Number(old["max_limit_max"]), Number(next["max_limit_max"])];
  if (had !== has) changes.add(has > had ? "isolation-weakening" : "breaking", subject, `max_limit_max is ${has} instead of ${had}`);
  const [before, after] = [old["allowed_backends"], next["allowed_backends"]];
  if (same(before, after)) return;
  const wider = !Array.isArray(after) || (Array.isArray(before) && without(after, before).length > 0);
  changes.add(wider ? "isolation-weakening" : "breaking", subject, `allowed_backends is ${show(after)} instead of ${show(before)}`);
}

function compareObservability(old: ServePlan, next: ServePlan, changes: Changes): void {
  const [oldAudit, nextAudit] = [section(old.observability?.["audit"]), section(next.observability?.["audit"])];
  // Without the chain nobody can show which guard ran; nothing else about records decides who sees a row.
  const unchained = oldAudit?.["chain"] === true && nextAudit?.["chain"] !== true;
  if (unchained) changes.add("isolation-weakening", "observability.audit.chain", nextAudit === undefined ? "access evidence is off now, with all audit records" : "access evidence is off now");
  const unrecorded = oldAudit?.["chain"] === true && nextAudit?.["chain"] === true ? without(texts(nextAudit["exclude_tools"]), texts(oldAudit["exclude_tools"])) : [];
  if (unrecorded.length > 0) changes.add("isolation-weakening", "observability.audit.chain", `calls of ${show(unrecorded)} leave no access evidence`);
  const names = (audit: Section | undefined): readonly string[] => texts(section(audit?.["redact"])?.["arg_fields"]);
  const bared = oldAudit === undefined || nextAudit === undefined ? [] : without(names(oldAudit), names(nextAudit));
  if (bared.length > 0) changes.add("isolation-weakening", "observability.audit", `arguments ${show(bared)} are written to the audit log as they are`);
  const [hadMetrics, hasMetrics] = [section(old.observability?.["metrics"]), section(next.observability?.["metrics"])];
  const isGuardChanged = hadMetrics !== undefined && hasMetrics !== undefined && hadMetrics["require_auth"] !== hasMetrics["require_auth"];
  if (isGuardChanged) {
    const guards = hasMetrics["require_auth"] === true;
    changes.add(guards ? "breaking" : "isolation-weakening", "observability.metrics", guards ? "GET /metrics needs authentication now" : "GET /metrics needs no authentication any more");
  }
  for (const key of ["audit", "tracing", "metrics"] as const) {
    const [before, after] = [old.observability?.[key], next.observability?.[key]];
    if (same(before, after) || (key === "metrics" && isGuardChanged) || (key === "audit" && (unchained || unrecorded.length > 0 || bared.length > 0))) continue;
    changes.add("behavioural", `observability.${key}`, before === undefined ? "is on now" : after === undefined ? "is off now" : "is set another way");
  }
}

/** Settings that do not change which rows are read; another key or user may see others. */
const HARMLESS = new Set(["vector_column", "embedding_mode"]);

export function compareConnections(old: { readonly [name: string]: ConnectionPlan }, next: { readonly [name: string]: ConnectionPlan }, changes: Changes): void {
  for (const [name, before] of Object.entries(old)) {
    const after = Object.hasOwn(next, name) ? next[name] : undefined;
    const subject = `connection ${name}`;
    if (after === undefined) changes.add("behavioural", subject, `connection '${name}' is gone`);
    else if (before.backend !== after.backend) changes.add("isolation-weakening", subject, `connection '${name}' is ${after.backend} instead of ${before.backend}`);
    else if (!same(before, after)) {
      const keys = changedKeys(before, after);
      const isOther = keys.some((key) => !HARMLESS.has(key));
      // Settings may contain addresses and keys; their values are not repeated.
      changes.add(isOther ? "isolation-weakening" : "behavioural", subject, `connection '${name}' is set another way (${keys.join(", ")})${isOther ? "; other rows may be behind the same guards" : ""}`);
    }
  }
  for (const name of Object.keys(next)) if (!Object.hasOwn(old, name)) changes.add("additive", `connection ${name}`, `connection '${name}' is new`);
}

function changedKeys(before: ConnectionPlan, after: ConnectionPlan): readonly string[] {
  const keys = new Set([...Object.keys(before.settings), ...Object.keys(after.settings)]);
  const settings = [...keys].filter((key) => !same(before.settings[key], after.settings[key]));
  return same(before.credentials, after.credentials) ? settings : [...settings, "credentials"];
}
