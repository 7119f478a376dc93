// Before the first paint, so that a chosen theme never flashes as the other one.
try {
  const chosen = localStorage.getItem("toolsrv.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is switched off: the system's theme holds.
}
