import { render } from "preact";
import { createApp } from "./state/app.js";
import { AppContext } from "./view/context.js";
import { Page } from "./view/page.js";
import "./style/tokens.css";
import "./style/page.css";
import "./style/list.css";
import "./style/run.css";
import "./style/inspector.css";
import "./style/views.css";

const root = document.getElementById("app");
if (root === null) throw new Error("the page has no place for the app");
render(
  <AppContext.Provider value={createApp()}>
    <Page />
  </AppContext.Provider>,
  root,
);
