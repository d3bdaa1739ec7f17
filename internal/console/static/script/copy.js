// Texts that are made to be used elsewhere can be copied.
(() => {
  if (!navigator.clipboard) return;
  const offer = () => {
    for (const text of document.querySelectorAll("pre[data-copy]:not([data-offered])")) {
      text.dataset.offered = "";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      text.before(button);
    }
  };
  offer();
  new MutationObserver(offer).observe(document.body, {childList: true, subtree: true});
})();
