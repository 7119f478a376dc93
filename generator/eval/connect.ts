/** The connection that scenarios run through. */
import { connectPlans, type Connection, type PlanWorld } from "../connect.js";
import type { Plans } from "../ir.js";

/** The connection of an application, but for rate limits: five hundred scenarios are not five hundred requests of one caller. */
export function connectForEval(plans: Plans, world: PlanWorld): Promise<Connection> {
  const { rate_limit: _, ...security } = plans.settings.security ?? {};
  return connectPlans({ ...plans, settings: { ...plans.settings, ...(plans.settings.security === undefined ? {} : { security }) } }, world);
}
