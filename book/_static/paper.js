// Paper is white: whoever reads in the dark prints in the light theme.
const paper = matchMedia("print");
let onScreen = "";

paper.addEventListener("change", () => {
  const page = document.documentElement;
  if (paper.matches) onScreen = page.dataset.theme;
  page.dataset.theme = paper.matches ? "light" : onScreen;
});
