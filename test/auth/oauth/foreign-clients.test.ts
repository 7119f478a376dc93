/** Clients that others wrote: discovery → registration or metadata document → login → token → call → refresh → revoke. */
import * as assert from "uvu/assert";
import { suite } from "../../lib/suite.js";
import { FLOWS, openWorld } from "./foreign-clients.js";
import { idJagFlow, identityProvider } from "./identity-provider.js";

const test = suite("oauth: clients that others wrote");

for (const flow of FLOWS) {
  test(`${flow.name}: the whole flow`, async () => {
    const world = await openWorld();
    const steps: string[] = [];
    try {
      await flow.run(world, (what) => void steps.push(what));
    } finally {
      await world.stop();
    }
    for (const wanted of ["discovery", "login", "token", "call", "refresh", "revoke"]) assert.ok(steps.some((step) => step.startsWith(wanted)), `${wanted}: ${steps.join("; ")}`);
  }, { timeoutMs: 60_000 });
}

test("MCP SDK 2, cross-app access with oidc-provider as the identity provider: the whole flow", async () => {
  const provider = await identityProvider();
  const world = await openWorld(provider.idJag);
  const steps: string[] = [];
  try {
    await idJagFlow(provider).run(world, (what) => void steps.push(what));
  } finally {
    await world.stop();
    provider.stop();
  }
  for (const wanted of ["identity provider", "call", "renewal", "revoke"]) assert.ok(steps.some((step) => step.startsWith(wanted)), `${wanted}: ${steps.join("; ")}`);
}, { timeoutMs: 60_000 });

test.run();
