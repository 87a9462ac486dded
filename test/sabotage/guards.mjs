/** The guards that `npm run sabotage` switches off, one at a time. */
import { admission } from "./guards/admission.mjs";
import { claim } from "./guards/claim.mjs";
import { deadline } from "./guards/deadline.mjs";
import { failClosed } from "./guards/fail-closed.mjs";
import { keptEvents } from "./guards/kept-events.mjs";
import { ledger } from "./guards/ledger.mjs";
import { proof } from "./guards/proof.mjs";

export const guards = [...admission, ...proof, ...claim, ...deadline, ...ledger, ...keptEvents, ...failClosed];
