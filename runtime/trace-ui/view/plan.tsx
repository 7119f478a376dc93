/** The plan of a step of a tool server: the lines that made it, what it is bound to, and what the store is asked. */
import type { JSX } from "preact";
import type { Json } from "../model/payload.js";
import { givenArguments, type StepPlan } from "../model/plan.js";
import { CopyButton, Foreign } from "./parts.js";

/** `input` is the payload of the call's start, with the arguments that it kept. */
export function PlanView({ plan, input }: { plan: StepPlan; input: Json }): JSX.Element {
  const given = givenArguments(plan.names, input);
  return (
    <>
      <section class="part ids" aria-label="Source">
        <h3>Source</h3>
        <dl>
          <Line term="Catalog" text={plan.source} />
          {plan.printed !== null && <Line term="Generated" text={plan.printed} />}
          {plan.catalogVersion !== null && <Line term="Version" text={plan.catalogVersion} />}
          {plan.catalogHash !== null && <Line term="Hash" text={plan.catalogHash} />}
        </dl>
      </section>
      <section class="part ids" aria-label="Guard">
        <h3>Guard</h3>
        {plan.guard.length === 0 ? <p class="quiet">The catalog binds this tool to no filter.</p> : <ul class="guard">{plan.guard.map((words, index) => <li key={index} class="mono"><Foreign text={words} /></li>)}</ul>}
        {plan.certificate !== null && <dl><Line term="Certificate" text={plan.certificate} /></dl>}
      </section>
      {plan.queries.map(({ title, text }, index) => (
        <section key={index} class="part" aria-label={`Query ${index + 1}`}>
          <h3><Foreign text={title} /> <CopyButton label="Copy the query" text={() => text} /></h3>
          <pre class="raw" data-wrap tabIndex={0} aria-label={`Query ${index + 1} as text`}><bdi>{text}</bdi></pre>
        </section>
      ))}
      {given.length > 0 && (
        <section class="part ids" aria-label="Arguments of the query">
          <h3>Arguments</h3>
          <dl>{given.map(([name, json]) => <Line key={name} term={`<${name}>`} text={json} />)}</dl>
        </section>
      )}
      {plan.queries.length > 0 && <p class="quiet plan-note">Values that the catalog fixes, and those of the caller's identity, are not recorded. Limits are at their maximum; the condition of an argument that is not given is left out.</p>}
    </>
  );
}

function Line({ term, text }: { term: string; text: string | null }): JSX.Element {
  return <div><dt><bdi>{term}</bdi></dt><dd class="mono">{text === null ? <span class="quiet">not given</span> : <bdi>{text}</bdi>}</dd><dd>{text !== null && <CopyButton label={`Copy ${term}`} text={() => text} />}</dd></div>;
}
