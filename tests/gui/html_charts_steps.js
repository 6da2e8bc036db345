// What a reader does, in tests/gui/test_html_charts.py.
const named = (text) => [...document.querySelectorAll("#live button")].find((b) => b.textContent === text);
const found = [document.querySelectorAll("#live canvas").length, innerWidth >= document.body.scrollWidth];
named("Distribution").click();
found.push(document.querySelectorAll("#live canvas").length);
named("Sweep").click();
const slider = document.querySelector("#live input");
slider.value = 0; slider.oninput();
found.push(document.querySelector("#live output").textContent);
const chips = document.querySelectorAll(".chips button");
chips[0].click();
found.push(document.querySelectorAll(".chips [aria-pressed=false]").length);
const over = document.querySelector("#live .u-over"), box = over.getBoundingClientRect();
const at = (type, x, buttons) => (type === "mouseup" ? document : over).dispatchEvent(new MouseEvent(type,
  { bubbles: true, movementX: 1, clientX: box.left + x, clientY: box.top + 9, buttons }));
setTimeout(() => {
  over.dispatchEvent(new PointerEvent("pointerenter"));
  at("mouseenter", 50, 0); at("mousemove", 50, 0); at("mousedown", 50, 1); at("mousemove", 150, 1); at("mouseup", 150, 0);
  setTimeout(() => {
    found.push(Boolean(named("Whole axis")));
    named("Servers").click();
    setTimeout(() => {
      const canvas = document.querySelector("#live canvas"), area = document.querySelector("#live .u-over");
      const [all, plot] = [canvas, area].map((each) => each.getBoundingClientRect()), scale = canvas.width / all.width;
      const foot = (share) => canvas.getContext("2d").getImageData((plot.left - all.left + share * plot.width) * scale,
        (plot.bottom - all.top - 4) * scale, 1, 1).data[3];
      // One of two bars, in the middle: the other was hidden above.
      found.push(foot(0.5) > 0 && !foot(0.1));
      document.body.dataset.found = JSON.stringify(found);
    }, 200);
  }, 200);
}, 200);
