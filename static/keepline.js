// What the pages gain with JavaScript; each works without it.

import { startDraft } from "./draft.js";
import { startInPlace } from "./in_place.js";
import { repeatStatus } from "./status.js";
import { startTimes } from "./times.js";

startTimes();
startDraft();
startInPlace();
repeatStatus();
document.querySelector("[data-focus]")?.focus();
