/** Prints the flow of each client that others wrote, step by step: `node dist/test/auth/oauth/show-clients.js`. */
import { FLOWS, openWorld, type Flow } from "./foreign-clients.js";
import { idJagFlow, identityProvider } from "./identity-provider.js";

async function show(flow: Flow, idJag: Parameters<typeof openWorld>[0] = null): Promise<void> {
  process.stdout.write(`${flow.name}\n`);
  const world = await openWorld(idJag);
  try {
    await flow.run(world, (what) => process.stdout.write(`  ${what}\n`));
  } finally {
    await world.stop();
  }
}

for (const flow of FLOWS) await show(flow);
const provider = await identityProvider();
await show(idJagFlow(provider), provider.idJag);
provider.stop();
