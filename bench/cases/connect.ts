/** The library: a call as an application makes it, over a store that answers at once. */
import { connectionOf } from "../../generator/connect.js";
import { bindTools } from "../../generator/frameworks/toolset.js";
import { createEngine } from "../../runtime/call/engine.js";
import { atMost, type BenchCase } from "../lib/case.js";
import { ARGS, nullProgram, timed } from "./call.js";

const ROUNDS = 15;
/** Until the engine has compiled the path. */
const WARM_UP_ROUNDS = 3;
const GOAL_US = 15;

export const connect: BenchCase = {
  name: "connect",
  summary: "call() of the library in the same process, five rows over a store that answers at once",
  method: "Calls one after another from one caller with a principal, claims and a role; each validates its arguments, binds, shapes five rows and makes an envelope.",
  async run() {
    const connection = connectionOf(createEngine(nullProgram(), { env: new Map() }));
    const context = { principal: "ann", claims: { org: "north" }, roles: ["reader"] };
    const [tool] = bindTools<void>(connection, { context });
    if (tool === undefined) throw new Error("the program has no tool");
    const calls = await rounds(async () => {
      const { count } = await connection.call("films", ARGS, context);
      if (count !== 5) throw new Error(`expected 5 rows, got ${count}`);
    });
    const bound = await rounds(async () => {
      const outcome = await tool.run(ARGS, undefined);
      if (outcome.isError) throw new Error(outcome.text);
    });
    await connection.close();
    return [
      atMost("connect().call", calls, GOAL_US, "µs"),
      atMost("a tool of loadTools, with the text for the model", bound, GOAL_US, "µs"),
    ];
  },
};

async function rounds(work: () => Promise<void>): Promise<readonly number[]> {
  const figures: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const figure = await timed(work);
    if (round >= 0) figures.push(figure);
  }
  return figures;
}
