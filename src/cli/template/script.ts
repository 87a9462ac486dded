/**
 * Plays the model until there is one, so that this project runs without a key.
 *
 * A script says what a model would say, and nothing else: it names tools and their arguments. What the tools do, ask
 * and return is their own code in tools/, and is real. Change that code and you see the change.
 *
 * `cases` are tried in their order against the user's latest message (`user`), and where given against what the
 * assistant said before it (`after`). The first that matches is played: `model` holds what the model says the first
 * time it is called in the turn, the second time, and so on. A reply may have `reasoning`, `text` and `calls`; after
 * its calls have a result the model is called again. Texts and arguments may be functions of what the model has seen:
 * `match` (what `user` matched), `results` (of the calls before) and `userText`.
 *
 * To use a real model instead, set `engine` in agent.yaml:
 *
 *   engine:
 *     provider: openai-compatible
 *     model: ${HOLDLINE_MODEL}
 *     baseURL: ${HOLDLINE_BASE_URL}
 *     apiKey: ${HOLDLINE_API_KEY}
 */
import { defineScript, type Seen } from "holdline/project";

const say = ({ results }: Seen) => results.join(" ");

export default defineScript({
  cases: [
    {
      // Two services, one tool, one step: both ask, and both questions are answered together.
      user: /restart\b.*\b(both|all|everything)/i,
      model: [
        {
          text: "I will restart both.",
          calls: [
            { tool: "restart_service", args: { service: "api-west" } },
            { tool: "restart_service", args: { service: "api-east" } },
          ],
        },
        { text: say },
      ],
    },
    {
      // The tool asks in the middle of its work.
      user: /restart\b.*\b(api-west|api-east)/i,
      model: [
        { calls: [{ tool: "restart_service", args: ({ match }) => ({ service: match[1]?.toLowerCase() }) }] },
        { text: say },
      ],
    },
    {
      // "Deploy", and there are two services to deploy to, and no default: only the user can tell.
      user: /\bdeploy\b(?!.*\bapi-(west|east)\b)/i,
      model: [
        {
          reasoning:
            "Two production services are configured, api-west and api-east. Neither is the default, so I must ask.",
          calls: [
            {
              tool: "request_input",
              args: {
                prompt: "Which production service should I deploy: api-west or api-east?",
                reason: "Two production services are configured and there is no default.",
              },
            },
          ],
        },
      ],
    },
    {
      // Needs approval before anything runs. Also the reply to the question above.
      user: /\b(api-west|api-east)\b/i,
      model: [
        {
          text: ({ match }) => `I will deploy 4.2.0 to ${match[1]?.toLowerCase()}.`,
          calls: [
            {
              tool: "deploy_service",
              args: ({ match }) => ({ service: match[1]?.toLowerCase(), version: "4.2.0" }),
            },
          ],
        },
        { text: say },
      ],
    },
  ],
  otherwise: [
    {
      text: [
        "I am played by `script.ts`, so I know only a few things. Try one of these:",
        "",
        "- **Deploy** — I ask which service you mean",
        "- **Deploy api-west** — I need your approval",
        "- **Restart api-east** — my tool asks you in the middle of its work",
        "- **Restart both** — two questions at once",
      ].join("\n"),
    },
  ],
});
