import { render } from "preact";
import { readConfig } from "./config.ts";
import { App } from "./parts/app.tsx";
import { Session } from "./session.ts";
import "./styles/base.css";
import "./styles/conversation.css";
import "./styles/questions.css";
import "./styles/panel.css";

const config = readConfig();
const root = document.getElementById("console");
if (root !== null) {
  root.replaceChildren();
  render(<App config={config} session={new Session(config.endpoint)} />, root);
}
