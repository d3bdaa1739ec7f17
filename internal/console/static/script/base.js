// What pages do with a script: they follow changes of the cluster, and search while you type. Without it they can be read and searched all the same.
"use strict";
(() => {
  // refresh asks for a page and puts its parts in the place of those that are shown, unless the user is in one of them.
  const written = (of) => of.innerHTML.replace(/name="form" value="[^"]*"/g, ""); // but for the token, which is another one on every page
  const shown = new Map([...document.querySelectorAll("[data-part]")].map((part) => [part, written(part)]));
  let last = 0; // only the newest answer counts
  const refresh = async (address) => {
    const mine = ++last;
    const answer = await fetch(address, {headers: {Accept: "text/html"}});
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== last) return;
    if (document.querySelector("[data-whole]") && !page.querySelector("[data-whole]")) { location.reload(); return; } // this page was in the place of that one
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = page.getElementById(part.id);
      const busy = part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
      if (next && !busy && written(next) !== shown.get(part)) {
        shown.set(part, written(next));
        for (const details of part.querySelectorAll("details[id]")) { const same = next.querySelector("#" + CSS.escape(details.id)); if (same) same.open = details.open; }
        const same = (a) => (b) => a.tagName === b.tagName && a.getAttribute("href") === b.getAttribute("href") && a.textContent === b.textContent;
        const focused = part.contains(document.activeElement) ? document.activeElement : null;
        part.replaceChildren(...next.childNodes);
        if (focused) [...part.querySelectorAll(focused.tagName)].find(same(focused))?.focus();
      }
    }
  };

  for (const form of document.querySelectorAll("form[data-as-typed]")) {
    let timer;
    const search = () => {
      const address = new URL(form.action);
      for (const [key, value] of new FormData(form)) if (value) address.searchParams.set(key, value);
      history.replaceState(null, "", address);
      const asked = refresh(address), mine = last;
      asked.finally(() => { if (mine === last) form.removeAttribute("aria-busy"); });
    };
    form.addEventListener("input", () => { form.setAttribute("aria-busy", "true"); clearTimeout(timer); timer = setTimeout(search, 120); });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); search(); });
  }

  const live = document.querySelector(".live");
  const page = document.querySelector("[data-live]");
  const follows = () => { const at = page.dataset.follow ?? location.href; if (at) refresh(at); }; // a page that a form has sent has another address, or none
  if (page && live) {
    // A browser has six connections to a server, and each stream takes one: pages that no one sees have none, and are read again when they are seen.
    let stream = null;
    const follow = () => {
      stream = new EventSource("/live" + location.search);
      stream.addEventListener("open", () => {
        live.dataset.state = "on"; live.title = "follows the cluster";
        follows(); // what changed since the page was made, or while the stream was broken, it has not said
      });
      stream.addEventListener("error", () => { // a browser tries again by itself, unless the console has refused the stream
        live.dataset.state = "off";
        live.title = "does not follow the cluster: " + (stream?.readyState === EventSource.CLOSED ? "load the page again" : "tries again");
      });
      stream.addEventListener("change", follows);
    };
    const leave = () => { stream?.close(); stream = null; };
    document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else if (!stream) follow(); });
    addEventListener("pagehide", leave);
    if (!document.hidden) follow();
  }
})();
