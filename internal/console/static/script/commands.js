// Commands of answers can be copied.
"use strict";
(() => {
  const offer = (root) => {
    for (const line of root.querySelectorAll("[data-command]:not([data-copies])")) {
      const text = line.textContent;
      const copy = document.createElement("button");
      copy.type = "button";
      copy.className = "quiet";
      copy.textContent = "Copy";
      copy.setAttribute("aria-label", "Copy the command " + text);
      copy.addEventListener("click", () => navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; setTimeout(() => { copy.textContent = "Copy"; }, 2000); }));
      line.dataset.copies = "";
      line.append(copy);
    }
  };
  if (!navigator.clipboard) return; // which browsers have on safe connections alone
  offer(document);
  for (const part of document.querySelectorAll("[data-part]")) new MutationObserver(() => offer(part)).observe(part, {childList: true});
})();
