// Texts that are made to be used elsewhere, and commands, can be copied: browsers allow it on safe connections alone.
"use strict";
(() => {
  if (!navigator.clipboard) return;
  const offer = () => {
    for (const text of document.querySelectorAll("pre[data-copy]:not([data-offered])")) {
      const content = text.textContent;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet copy";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy " + content.trim().split("\n", 1)[0]);
      button.addEventListener("click", () => navigator.clipboard.writeText(content).then(() => {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      }, () => { button.textContent = "Not copied"; }));
      text.dataset.offered = "";
      if (text.matches(".command")) text.append(button); else text.before(button);
    }
  };
  offer();
  new MutationObserver(offer).observe(document.body, {childList: true, subtree: true});
})();
