"use strict";
// Shows h(t) of one channel: intact, masked and their difference, with a slider for time. All data lie in the page.
(() => {
  const data = JSON.parse(document.getElementById("viewer-data").textContent);
  const root = document.getElementById("viewer");
  const find = (name) => root.querySelector(`[data-part="${name}"]`);
  const kinds = ["intact", "masked", "difference"];
  const shades = { intact: "#0072B2", masked: "#D55E00", difference: "#5a5a5a" };
  const cache = new Map();
  let pixel = null;
  let timer = null;

  // whole numbers of 16 bits, little-endian, in units of scale / 32767
  function decode(text, scale) {
    if (!cache.has(text)) {
      const raw = atob(text);
      const values = new Float32Array(raw.length / 2);
      for (let i = 0; i < values.length; i += 1) {
        const whole = raw.charCodeAt(2 * i) | (raw.charCodeAt(2 * i + 1) << 8);
        values[i] = ((whole > 32767 ? whole - 65536 : whole) * scale) / 32767;
      }
      cache.set(text, values);
    }
    return cache.get(text);
  }

  function chosen() {
    const block = data.blocks[find("block").value];
    const channel = block.channels[find("channel").value];
    const maps = channel.images[find("image").value];
    const [height, width] = block.size;
    const intact = decode(maps.intact, maps.scale);
    const masked = decode(maps.masked, maps.scale);
    return { block, channel, height, width, intact, masked, step: Number(find("time").value) };
  }

  function values(now, kind, step) {
    const size = now.height * now.width;
    const from = (array, t) => array.subarray(t * size, (t + 1) * size);
    const a = from(now.intact, step);
    const b = from(now.masked, step);
    if (kind === "difference") return b.map((value, i) => value - a[i]);
    const own = kind === "intact" ? a : b;
    if (find("shown").value === "h") return own;
    const start = from(kind === "intact" ? now.intact : now.masked, 0);
    return own.map((value, i) => value - start[i]);
  }

  function largest(now, kind) {
    let most = 0;
    for (let t = 0; t < now.block.times.length; t += 1) {
      for (const value of values(now, kind, t)) most = Math.max(most, Math.abs(value));
    }
    return most || 1;
  }

  // purple below zero, orange above, white at zero: told apart by readers with any colour vision
  function shade(share) {
    const [low, high] = [[84, 39, 136], [179, 88, 6]];
    const end = share < 0 ? low : high;
    const amount = Math.min(1, Math.abs(share)) ** 0.8;
    return end.map((part) => Math.round(255 + (part - 255) * amount));
  }

  function paint(now, kind, most) {
    const canvas = find(`canvas-${kind}`);
    canvas.width = now.width;
    canvas.height = now.height;
    const context = canvas.getContext("2d");
    const picture = context.createImageData(now.width, now.height);
    values(now, kind, now.step).forEach((value, i) => picture.data.set([...shade(value / most), 255], 4 * i));
    context.putImageData(picture, 0, 0);
    if (pixel) {
      context.strokeStyle = "#000";
      context.lineWidth = 0.4;
      context.strokeRect(pixel[1] + 0.1, pixel[0] + 0.1, 0.8, 0.8);
    }
  }

  function mean(array) {
    let sum = 0;
    for (const value of array) sum += Math.abs(value);
    return sum / array.length;
  }

  function lines(now) {
    const steps = now.block.times.map((_, t) => t);
    const at = pixel ? pixel[0] * now.width + pixel[1] : null;
    return Object.fromEntries(
      kinds.map((kind) => [kind, steps.map((t) => (at === null ? mean(values(now, kind, t)) : values(now, kind, t)[at]))]),
    );
  }

  function plot(now) {
    const svg = find("plot");
    // drawn at the size it is shown at, so that its text keeps its size on a narrow screen
    const width = Math.max(280, Math.round(svg.getBoundingClientRect().width) || 640);
    const [height, left, right, top, bottom] = [230, 50, 84, 12, 42];
    const drawn = lines(now);
    const all = kinds.flatMap((kind) => drawn[kind]);
    const low = Math.min(0, ...all);
    const high = Math.max(...all, low + 1e-9);
    const end = now.block.times[now.block.times.length - 1] || 1;
    const x = (t) => left + ((width - left - right) * t) / end;
    const y = (v) => top + ((height - top - bottom) * (high - v)) / (high - low);
    const text = (px, py, words, more = "") => `<text x="${px}" y="${py}" font-size="12" ${more}>${words}</text>`;
    const parts = [low, (low + high) / 2, high].map(
      (v) => text(left - 6, y(v) + 4, v.toPrecision(2), 'text-anchor="end" fill="#5a5a5a"') +
        `<line x1="${left}" x2="${width - right}" y1="${y(v)}" y2="${y(v)}" stroke="#e5e5e5"/>`,
    );
    [0, end / 2, end].forEach((t) => parts.push(text(x(t), height - 22, t.toPrecision(3), 'text-anchor="middle" fill="#5a5a5a"')));
    parts.push(text((left + width - right) / 2, height - 5, "time t (solver time)", 'text-anchor="middle"'));
    const places = [];
    kinds.forEach((kind) => {
      const path = drawn[kind].map((v, t) => `${t ? "L" : "M"}${x(now.block.times[t]).toFixed(1)} ${y(v).toFixed(1)}`);
      parts.push(`<path d="${path.join("")}" fill="none" stroke="${shades[kind]}" stroke-width="2"/>`);
      places.push([kind, y(drawn[kind][drawn[kind].length - 1])]);
    });
    places.sort((a, b) => a[1] - b[1]);
    places.forEach((place, i) => { if (i) place[1] = Math.max(place[1], places[i - 1][1] + 14); });
    // names pushed below the axis would lie on its numbers
    const lowest = height - bottom;
    for (let i = places.length - 1, limit = lowest; i >= 0; i -= 1, limit -= 14) places[i][1] = Math.min(places[i][1], limit);
    places.forEach(([kind, place]) => parts.push(text(width - right + 6, place + 4, kind, `fill="${shades[kind]}"`)));
    const t = now.block.times[now.step];
    parts.push(`<line x1="${x(t)}" x2="${x(t)}" y1="${top}" y2="${height - bottom}" stroke="#1b1b1b" stroke-dasharray="3 3"/>`);
    const what = find("shown").value === "h" ? "h" : "h - h(0)";
    const where = pixel ? `${what} at row ${pixel[0]}, column ${pixel[1]}` : `mean over the map of |${what}|; of the difference, |masked - intact|`;
    find("what").textContent = `${where} (1). Click a map, or move to it and press an arrow key, to follow one place; click it again, or press Escape, to leave.`;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.innerHTML = parts.join("");
  }

  // what a reader of the screen hears in place of the colours
  function described(now, kind) {
    const own = values(now, kind, now.step);
    const ends = `from ${Math.min(...own).toPrecision(2)} to ${Math.max(...own).toPrecision(2)}`;
    const here = pixel ? `; ${own[pixel[0] * now.width + pixel[1]].toPrecision(2)} at row ${pixel[0]}, column ${pixel[1]}` : "";
    return `${kind} map of ${now.height} by ${now.width} pixels, ${ends}${here}. Arrow keys move the place that is followed, Escape leaves it.`;
  }

  function step_pixel(event) {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const now = chosen();
    if (event.key === "Escape") pixel = null;
    else if (event.key === "Enter" || event.key === " ") pixel = pixel ? null : [now.height >> 1, now.width >> 1];
    else if (event.key in moves) {
      const [down, right] = moves[event.key];
      const [row, column] = pixel || [now.height >> 1, now.width >> 1];
      const within = (value, size) => Math.max(0, Math.min(size - 1, value));
      pixel = pixel ? [within(row + down, now.height), within(column + right, now.width)] : [row, column];
    } else return;
    event.preventDefault();
    draw();
  }

  function draw() {
    const now = chosen();
    const common = Math.max(largest(now, "intact"), largest(now, "masked"));
    const apart = largest(now, "difference");
    kinds.forEach((kind) => {
      const most = kind === "difference" ? apart : common;
      paint(now, kind, most);
      find(`low-${kind}`).textContent = `-${most.toPrecision(2)}`;
      find(`high-${kind}`).textContent = most.toPrecision(2);
      find(`canvas-${kind}`).setAttribute("aria-label", described(now, kind));
    });
    const t = now.block.times[now.step];
    find("now").textContent = `t = ${t.toFixed(2)} of ${now.block.times[now.block.times.length - 1]}`;
    find("time").setAttribute("aria-valuetext", find("now").textContent);
    const image = data.images[find("image").value];
    find("input-intact").src = image.intact;
    find("input-masked").src = image.masked;
    find("input-intact").alt = image.name;
    find("input-masked").alt = `${image.name}, under its mask`;
    plot(now);
    root.dataset.step = String(now.step);
  }

  function fill(select, names) {
    select.replaceChildren(...names.map((name, i) => new Option(name, String(i))));
  }

  function choose_block() {
    const block = data.blocks[find("block").value];
    fill(find("channel"), block.channels.map((channel) => `channel ${channel.index}`));
    find("time").max = String(block.times.length - 1);
    pixel = null;
    draw();
  }

  function play() {
    if (timer) {
      clearInterval(timer);
      timer = null;
    } else {
      timer = setInterval(() => {
        const slider = find("time");
        slider.value = String((Number(slider.value) + 1) % (Number(slider.max) + 1));
        draw();
      }, 250);
    }
    find("play").textContent = timer ? "Stop" : "Play";
    find("play").setAttribute("aria-pressed", String(Boolean(timer)));
  }

  fill(find("block"), data.blocks.map((block) => block.name.replace("block", "block ")));
  fill(find("image"), data.images.map((image) => image.name));
  find("block").addEventListener("change", choose_block);
  ["channel", "image", "shown"].forEach((name) => find(name).addEventListener("change", draw));
  find("time").addEventListener("input", draw);
  find("play").addEventListener("click", play);
  kinds.forEach((kind) => {
    find(`canvas-${kind}`).addEventListener("keydown", step_pixel);
    find(`canvas-${kind}`).addEventListener("click", (event) => {
      const now = chosen();
      const box = event.target.getBoundingClientRect();
      const row = Math.min(now.height - 1, Math.floor(((event.clientY - box.top) / box.height) * now.height));
      const column = Math.min(now.width - 1, Math.floor(((event.clientX - box.left) / box.width) * now.width));
      pixel = pixel && pixel[0] === row && pixel[1] === column ? null : [row, column];
      draw();
    });
  });
  window.addEventListener("resize", draw);
  choose_block();
  // h is small at the start beside what it becomes, so the first thing to be seen is the end
  find("time").value = find("time").max;
  draw();
})();
