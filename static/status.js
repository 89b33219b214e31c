// The two live regions: #status, which is seen and heard, and #announcement, which is only heard.

/** Show one sentence above the content; an empty one clears the line. */
export function showStatus(sentence, { problem = false, link = null } = {}) {
  const status = document.getElementById("status");
  if (!sentence) {
    status.replaceChildren();
    return;
  }
  const notice = document.createElement("p");
  notice.className = problem ? "notice is-problem" : "notice";
  notice.textContent = sentence;
  if (link) {
    const anchor = document.createElement("a");
    Object.assign(anchor, { href: link.href, target: "_blank", textContent: link.label });
    notice.append(" ", anchor);
  }
  status.replaceChildren(notice);
}

/** Say the sentence that came with the page: a live region is silent about what it held from the start. */
export function repeatStatus() {
  const notice = document.querySelector("#status .notice");
  if (notice) setTimeout(() => notice.isConnected && notice.replaceWith(notice.cloneNode(true)), 500);
}

/** Say a sentence to screen readers only. */
export function announce(sentence) {
  document.getElementById("announcement").textContent = sentence;
}
