// A formula that is too wide for its place scrolls, so the keyboard must get to it.
addEventListener("load", async () => {
  if (!window.MathJax?.startup) return;
  await MathJax.startup.promise;
  const watch = new ResizeObserver((changed) => {
    for (const { target } of changed)
      target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
  });
  document.querySelectorAll('mjx-container[display="true"]').forEach((f) => watch.observe(f));
});
