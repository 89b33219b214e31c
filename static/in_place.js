// Forms marked data-in-place are sent without a reload: same address, same fields, and the <main> that
// comes back takes the place of this one. Whatever goes wrong, what was typed stays.

import { isUnsaved, refreshDraft } from "./draft.js";
import { showStatus } from "./status.js";
import { refreshTimes } from "./times.js";

const PATIENCE = 30000;
const QUIET = 500;
let address = withoutNotice(location.href);
let tokenIsOld = false;

/** A page's path without what the server says once, so that neither a reload nor a bookmark says it again. */
function withoutNotice(url) {
  const { pathname, searchParams } = new URL(url);
  for (const name of ["notice", "added", "removed"]) searchParams.delete(name);
  return searchParams.size ? `${pathname}?${searchParams}` : pathname;
}

/** Fetch a page of this site; throws when there is no answer or it is not one of Keepline's pages. */
async function fetchPage(url, options = {}) {
  const response = await fetch(url, {
    ...options,
    headers: { "X-Keepline-In-Place": "1" },
    signal: AbortSignal.timeout(PATIENCE),
  });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!page.querySelector("main#main")) throw new Error("not a page of Keepline");
  return { page, response };
}

function send(form, submitter) {
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  return fetchPage(action, { method: "POST", body: new URLSearchParams(new FormData(form, submitter)) });
}

const who = (page) => [".org", ".person-name"].map((name) => page.querySelector(name)?.textContent).join("\n");

/** After signing in again elsewhere, take the new token from a fresh page; false when someone else did. */
async function renewToken() {
  const { page } = await fetchPage(location.href);
  const token = page.querySelector('#sign-out input[name="csrf_token"]');
  if (!token) return true;
  if (who(page) !== who(document)) return false;
  for (const field of document.querySelectorAll('input[name="csrf_token"]')) field.value = token.value;
  tokenIsOld = false;
  return true;
}

function replacePage(page, response) {
  document.title = page.title;
  document.documentElement.dataset.theme = page.documentElement.dataset.theme;
  const open = [...document.querySelectorAll("main details[open][id]")].map((details) => details.id);
  for (const name of [".masthead", "#main", ".foot"]) {
    const [here, there] = [document.querySelector(name), page.querySelector(name)];
    if (here && there) here.replaceWith(document.importNode(there, true));
  }
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  document.getElementById("status").replaceChildren(
    ...[...(page.getElementById("status")?.childNodes ?? [])].map((node) => document.importNode(node, true)),
  );
  if (!response.redirected) return false;
  const arrived = withoutNotice(response.url);
  const moved = arrived.split("?")[0] !== location.pathname;
  if (arrived !== address) history[moved ? "pushState" : "replaceState"](null, "", arrived);
  address = arrived;
  return moved;
}

/** Put focus where the reader was; a problem, when there is one, comes first. */
function restoreFocus(place, moved) {
  const main = document.getElementById("main");
  const problem = main.querySelector("[data-focus]");
  if (problem || moved) {
    if (moved) scrollTo(0, 0);
    (problem ?? main).focus();
    return;
  }
  const same = place.id && document.getElementById(place.id);
  const target = same || document.querySelector(`#${place.section}-title`) || main;
  target.focus({ preventScroll: true });
  // Where it is out of sight it comes to the middle, clear of the status line that stays on top.
  const { top, bottom } = target.getBoundingClientRect();
  if (same && (top < 0 || bottom > innerHeight)) same.scrollIntoView({ block: "center" });
  if (target.id === "text" && place.selection) target.setSelectionRange(...place.selection);
}

function placeOf(element) {
  const selection = element?.id === "text" ? [element.selectionStart, element.selectionEnd] : null;
  return { id: element?.id, section: element?.closest?.("section[id]")?.id ?? "main", selection };
}

function saySomeoneElse() {
  const text = isUnsaved() ? " Your text is still here to copy." : " Load the page again to see theirs.";
  showStatus(`Someone else is signed in now, so nothing was stored.${text}`, { problem: true });
}

/** Say why a form got no usable page while unsaved text is on this one. */
function keepText(page, response) {
  tokenIsOld = true;
  if (response.status === 401 || page.getElementById("sign-in")) {
    showStatus("You are signed out, so nothing was saved. Your text is still here: sign in, then save again.", {
      problem: true,
      link: { href: "/login", label: "Sign in in a new tab" },
    });
    return;
  }
  const sentence = page.getElementById("error-sentence")?.textContent ?? page.querySelector("h1")?.textContent;
  showStatus(`${sentence ?? "That did not work."} Your text is still here.`, { problem: true });
}

async function submit(form, submitter) {
  const sentText = document.getElementById("text")?.value;
  const unsaved = isUnsaved();
  const seen = document.querySelector('#memory-form input[name="seen"]')?.value;
  if (tokenIsOld && !(await renewToken())) {
    saySomeoneElse();
    return;
  }
  let { page, response } = await send(form, submitter);
  if (response.status === 403) {
    // Signed in again in another tab: the same person's form is sent once more with the new session's token.
    if (!(await renewToken())) {
      tokenIsOld = true;
      saySomeoneElse();
      return;
    }
    ({ page, response } = await send(form, submitter));
  }
  const text = document.getElementById("text");
  const typed = text?.value;
  const keep = form.id === "memory-form" ? typed !== sentText : isUnsaved();
  if ((unsaved || keep) && !page.getElementById("text")) {
    keepText(page, response);
    return;
  }
  const place = placeOf(document.activeElement);
  const moved = replacePage(page, response);
  const newText = document.getElementById("text");
  if (keep && newText) {
    newText.value = typed;
    // Typed against the older text: with its `seen` the server notices what changed meanwhile.
    if (form.id !== "memory-form") document.querySelector('#memory-form input[name="seen"]').value = seen;
  }
  refreshDraft();
  refreshTimes();
  restoreFocus(place, moved);
}

/** The look changes at once and the rest of the page stays as it is. */
async function chooseAppearance(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const response = await fetch(form.getAttribute("action"), {
    method: "POST", body, redirect: "manual", headers: { "X-Keepline-In-Place": "1" },
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (response.type !== "opaqueredirect" && !response.ok) {
    showStatus("The appearance was not changed. Reload the page and try again.", { problem: true });
    return;
  }
  document.documentElement.dataset.theme = submitter.value;
  document.querySelector('meta[name="color-scheme"]').content =
    submitter.value === "system" ? "light dark" : submitter.value;
  for (const button of form.querySelectorAll("[aria-pressed]")) {
    button.setAttribute("aria-pressed", String(button === submitter));
  }
}

function failure() {
  const text = document.getElementById("text") ? " Your text is still here." : "";
  if (navigator.onLine === false) return `You are offline, so nothing was sent.${text} Try again when you are back.`;
  return `Keepline did not answer, so it is not known whether that was stored.${text} Try again; doing it twice does no harm.`;
}

async function onSubmit(event) {
  const form = event.target;
  if (form.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    return;
  }
  form.setAttribute("aria-busy", "true");
  const kind = form.dataset.inPlace;
  if (kind === undefined) {
    // A leave that the person called off must not lock the form.
    setTimeout(() => form.removeAttribute("aria-busy"), 5000);
    return;
  }
  event.preventDefault();
  const underWay = setTimeout(() => form.dataset.underWay && showStatus(form.dataset.underWay), QUIET);
  try {
    await (kind === "appearance" ? chooseAppearance : submit)(form, event.submitter);
  } catch {
    clearTimeout(underWay);
    showStatus(failure(), { problem: true });
  } finally {
    clearTimeout(underWay);
    form.removeAttribute("aria-busy");
  }
}

/** Listen on the document, so that forms in a replaced <main> are covered. */
export function startInPlace() {
  document.addEventListener("submit", onSubmit);
  if (address !== location.pathname + location.search) history.replaceState(null, "", address + location.hash);
  addEventListener("popstate", () => {
    if (location.pathname + location.search !== address) location.reload();
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of document.querySelectorAll('form[aria-busy="true"]')) form.removeAttribute("aria-busy");
  });
}
