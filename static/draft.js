// The memory text while it is edited: its count, its size, and the warning before it is lost.

import { announce, showStatus } from "./status.js";
import { count } from "./text.js";

const number = new Intl.NumberFormat("en-GB");
const growsByItself = CSS.supports("field-sizing", "content");
let announced = "";
let announcing = 0;
let discarding = false;

const field = () => document.getElementById("text");

/** Whether the text on the page differs from what the server has saved. */
export function isUnsaved() {
  const text = field();
  return text !== null && (text.dataset.saved === "false" || text.value !== text.defaultValue);
}

/** The stage of use that is worth saying aloud; moving within one is not. */
function stageOf(used, limit) {
  if (used > limit) return "over";
  if (used * 10 <= limit * 9) return "normal";
  return limit - used <= 50 ? "last" : "near";
}

/** Bring count, meter, limit sentence, height and the unsaved mark in step with the text. */
export function refreshDraft() {
  const text = field();
  if (!text) return;
  const usage = document.getElementById("usage");
  const limit = Number(usage.dataset.limit);
  const used = count(text.value);
  const stage = stageOf(used, limit);
  const level = stage === "last" ? "near" : stage;
  const values = { used, limit, left: limit - used, over: used - limit };
  const sentence = usage.dataset[level].replace(/\{(\w+)\}/g, (_, name) => number.format(values[name]));
  if (usage.textContent !== sentence) usage.textContent = sentence;
  usage.closest("[data-level]").dataset.level = level;
  document.getElementById("meter").value = Math.min(used, limit);
  // Where the page itself says that nothing was saved, it need not be said twice.
  document.getElementById("unsaved").hidden = text.dataset.saved === "false" || !isUnsaved();
  if (!growsByItself) {
    text.style.blockSize = "auto";
    text.style.blockSize = `${text.scrollHeight + text.offsetHeight - text.clientHeight}px`;
  }
  announceStage(stage, sentence);
}

function announceStage(stage, sentence) {
  clearTimeout(announcing);
  if (announced === "") announced = stage;
  if (stage === announced) return;
  announcing = setTimeout(() => {
    announced = stage;
    announce(sentence);
  }, 1000);
}

/** Select one line (counted from 1) of the text and bring it into view. */
function selectLine(lineNumber) {
  const text = field();
  const lines = text.value.split("\n");
  const start = lines.slice(0, lineNumber - 1).join("\n").length + (lineNumber > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start + (lines[lineNumber - 1] ?? "").length);
}

/** Listen on the document, so that a replaced <main> needs no second start. */
export function startDraft() {
  refreshDraft();
  document.addEventListener("input", (event) => {
    if (event.target !== field()) return;
    showStatus("");
    refreshDraft();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link?.dataset.line && field()) {
      event.preventDefault();
      selectLine(Number(link.dataset.line));
    }
    discarding = link !== null && "discards" in link.dataset;
  });
  addEventListener("beforeunload", (event) => {
    if (isUnsaved() && !discarding) event.preventDefault();
    discarding = false;
  });
}
