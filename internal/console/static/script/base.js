// What pages do with a script: they follow changes of the cluster, and search while you type. Without it they can be read and searched all the same.
"use strict";
(() => {
  const page = document.querySelector("[data-live]"), live = document.querySelector(".live");
  const written = (of) => of.innerHTML.replace(/name="form" value="[^"]*"/g, ""); // but for the token, which is another one on every page
  const shown = new Map([...document.querySelectorAll("[data-part]")].map((part) => [part, written(part)]));
  let open = null; // what is said while the stream is open
  const state = (on, title) => { if (live) { live.dataset.state = on; live.title = title; } };

  // put puts a part of a page that was read again in the place of the one that is shown, unless the user writes in it.
  const put = (part, next) => {
    const busy = part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
    if (!next || busy || written(next) === shown.get(part)) return;
    shown.set(part, written(next));
    for (const details of part.querySelectorAll("details[id]")) { const same = next.querySelector("#" + CSS.escape(details.id)); if (same) same.open = details.open; }
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const same = (a) => a.tagName === focused.tagName && a.getAttribute("href") === focused.getAttribute("href") && a.textContent === focused.textContent;
    part.replaceChildren(...next.childNodes);
    if (focused) [...part.querySelectorAll(focused.tagName)].find(same)?.focus();
  };

  // read asks for a page, and shows its parts.
  const read = async (address, signal) => {
    const answer = await fetch(address, {headers: {Accept: "text/html"}, signal});
    if (document.querySelector("[data-whole]") && answer.status !== 202) { location.reload(); return; } // this page was in the place of that one
    if (!answer.ok) { state("off", "cannot be read again (" + answer.status + "): load the page to see why"); return; }
    if (open) state(...open);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (signal.aborted) return;
    for (const part of document.querySelectorAll("[data-part]")) put(part, next.getElementById(part.id));
  };

  // One page is asked for at a time, and once more when something has changed meanwhile. What is typed does not wait for that.
  let under = null, changed = false;
  const refresh = (address) => {
    under?.abort();
    const mine = under = new AbortController();
    return read(address, mine.signal).catch(() => {}).finally(() => {
      if (under !== mine) return;
      under = null;
      if (changed) { changed = false; follows(); }
    });
  };
  const follows = () => {
    const at = page.dataset.follow ?? location.href; // a page that a form has sent has another address, or none
    if (under) changed = true;
    else if (at) refresh(at);
  };

  for (const form of document.querySelectorAll("form[data-as-typed]")) {
    let timer, typed = 0;
    const search = () => {
      const address = new URL(form.action), mine = ++typed;
      for (const [key, value] of new FormData(form)) if (value) address.searchParams.set(key, value);
      history.replaceState(null, "", address);
      refresh(address).finally(() => { if (mine === typed) form.removeAttribute("aria-busy"); });
    };
    form.addEventListener("input", () => { form.setAttribute("aria-busy", "true"); clearTimeout(timer); timer = setTimeout(search, 120); });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); search(); });
  }

  if (page && live) {
    // A browser has six connections to a server, and each stream takes one: pages that no one sees have none, and are read again when they are seen.
    const itself = page.querySelector("[data-part]:not(#jobs)"); // others show what there was when they were loaded
    const address = "/live" + (page.dataset.stream ? "?namespace=" + encodeURIComponent(page.dataset.stream) : "");
    let stream = null, timer;
    const follow = () => {
      stream = new EventSource(address);
      stream.addEventListener("open", () => {
        open = itself ? ["on", "follows the cluster"] : ["still", "shows what there was when it was loaded"];
        state(...open);
        follows(); // what changed since the page was made, or while the stream was broken, it has not said
      });
      stream.addEventListener("error", () => { open = null; // a browser tries again by itself, unless the console has refused the stream
        state("off", "does not follow the cluster: " + (stream?.readyState === EventSource.CLOSED ? "load the page again" : "tries again"));
      });
      stream.addEventListener("change", follows);
      if (page.hasAttribute("data-slow")) timer = setInterval(follows, 15000); // pods, events and custom resources are in no stream
    };
    const leave = () => { stream?.close(); stream = open = null; clearInterval(timer); };
    document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); else if (!stream) follow(); });
    addEventListener("pagehide", leave);
    if (!document.hidden) follow();
  }
})();
