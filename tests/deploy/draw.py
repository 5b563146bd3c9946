"""Draws deploy/grafana/dashboard.json as a page: its panels at their places, their queries answered by a Prometheus.

This is no Grafana. It shows that each panel has something to show, and lets somebody look at it.
"""

import html
import time

WIDTH, ROW = 56, 34  # pixels of a grid unit
COLOURS = ["#7eb26d", "#eab839", "#6ed0e0", "#ef843c", "#e24d42", "#1f78c1", "#ba43a9"]


def expression_of(target):
    return target["expr"].replace("$job", ".*").replace("$instance", ".*").replace("$__rate_interval", "20s")


def legend(target, labels):
    text = target["legendFormat"]
    for name, value in labels.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def series_of(prometheus, panel, seconds):
    now = time.time()
    for target in panel["targets"]:
        found = prometheus.get(
            "/api/v1/query_range", query=expression_of(target), start=now - seconds, end=now, step=1
        )["result"]
        for each in found:
            points = [(float(at), float(value)) for at, value in each["values"] if value != "NaN"]
            if points:
                yield legend(target, each["metric"]), points


def draw_lines(drawn, width, height):
    first = min(at for _, points in drawn for at, _ in points)
    last = max(at for _, points in drawn for at, _ in points)
    top = max((value for _, points in drawn for _, value in points), default=0) or 1
    parts = [f'<text x="2" y="12">{top:.4g}</text>']
    for number, (name, points) in enumerate(drawn):
        colour = COLOURS[number % len(COLOURS)]
        places = " ".join(
            f"{(at - first) / max(last - first, 1) * width:.1f},{height - value / top * (height - 16):.1f}"
            for at, value in points
        )
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{places}"/>')
        parts.append(
            f'<text x="{60 + number % 4 * 90}" y="{12 + number // 4 * 12}" fill="{colour}">{html.escape(name)}</text>'
        )
    return f'<svg width="{width}" height="{height}">{"".join(parts)}</svg>'


def draw_panel(prometheus, panel, seconds):
    place = panel["gridPos"]
    width, height = place["w"] * WIDTH - 8, place["h"] * ROW - 8
    drawn = list(series_of(prometheus, panel, seconds))
    assert drawn, f"{panel['title']} has nothing to show"
    if panel["type"] == "stat":
        inside = " ".join(f"<b>{points[-1][1]:.4g}</b> {html.escape(name)}" for name, points in drawn)
    else:
        inside = draw_lines(drawn, width - 8, height - 26)
    style = f"left:{place['x'] * WIDTH}px;top:{place['y'] * ROW}px;width:{width}px;height:{height}px"
    return f'<div style="{style}"><h2>{html.escape(panel["title"])}</h2>{inside}</div>'


def draw(prometheus, dashboard, seconds):
    panels = "".join(draw_panel(prometheus, panel, seconds) for panel in dashboard["panels"])
    return (
        "<!doctype html><meta charset=utf-8><style>body{background:#111217;color:#ccc;font:11px sans-serif}"
        "div{position:absolute;background:#181b1f;border:1px solid #333;overflow:hidden;padding:2px}"
        "h2{font-size:12px;margin:2px}b{font-size:24px;color:#7eb26d}text{font-size:10px;fill:currentColor}"
        f"</style>{panels}"
    )
