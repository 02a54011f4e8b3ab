# SPDX-License-Identifier: MIT
"""A headless Chromium for tests of HTML: opens a file, finds elements, clicks, types, takes screenshots.

It speaks the WebDriver protocol to Debian's chromedriver, using only the standard library. The browser gets real
clicks and keys, as from a mouse and a keyboard. Both programs end with the `with` block."""

import base64
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
        "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004", "Backspace": "\ue003"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing():
    """Why there is no browser; None: there is one."""
    absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if absent:
        return f"no {' and no '.join(absent)} here (Debian: chromium, chromium-driver)"
    try:
        socket.getaddrinfo("localhost", None)
    except OSError:
        return "the name localhost, by which chromedriver reaches the browser, has no address here"
    return None


class Browser:
    def __init__(self, width=1200, height=1000, dark=False):
        self.profile = tempfile.mkdtemp(prefix="profile-", dir=os.getcwd())
        self.driver = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       env=dict(os.environ, HOME=self.profile))
        for line in self.driver.stdout:
            port = re.search(r"started successfully on port (\d+)", line)
            if port:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{port.group(1)}"
        flags = [*FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")
        wanted = {"browserName": "chrome", "unhandledPromptBehavior": "ignore", "timeouts": {"script": 300000},
                  "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": flags}}
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{made['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=600) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as fault:
            value = json.load(fault)["value"]
            raise RuntimeError(f"{method} {path}: {value['error']}: {value['message'].splitlines()[0]}") from None

    # --- the page ---

    def open(self, path):
        self.ask("POST", self.session + "/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *args):
        """The value of a JavaScript function's body; `args` and the value may contain elements."""
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """The value that the script passes to its last argument, a function."""
        return self.ask("POST", self.session + "/execute/async", {"script": script, "args": args})

    def wait(self, script, *args, seconds=300):
        """Waits until the script's value is true. Returns the value, or None after the time limit, which only catches
        a hang."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script, *args)
            if value:
                return value
            time.sleep(0.05)
        return None

    def console(self):
        """Warnings and errors on the page's console since the last call."""
        found = self.ask("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in found if entry["level"] in ("WARNING", "SEVERE")]

    def dialog(self):
        """The text of an open alert, or None."""
        try:
            return self.ask("GET", self.session + "/alert/text")
        except RuntimeError:
            return None

    def find(self, selector, text=None):
        """The first visible element of a CSS selector whose text contains `text`; None."""
        return self.run("""return [...document.querySelectorAll(arguments[0])].find(element =>
            element.getClientRects().length && (arguments[1] === null || element.textContent.includes(arguments[1]))) || null;""",
                        selector, text)

    def text(self, selector):
        return self.run("const found = document.querySelector(arguments[0]); return found ? found.textContent : null;", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length;", selector)

    # --- the mouse and the keyboard ---

    def pointer(self, element, x, y, *actions):
        """Moves to a point of an element, relative to its middle, then performs the actions."""
        move = {"type": "pointerMove", "duration": 0, "origin": element, "x": int(x), "y": int(y)}
        steps = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move, *actions]}]
        self.ask("POST", self.session + "/actions", {"actions": steps})

    def into_view(self, element):
        """Scrolls to an element, and waits until the page stops moving, as it may be scrolling smoothly."""
        self.run_async("""
            const [element, done] = arguments;
            let last = null, still = 0;
            (function look() {
                element.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
                const box = element.getBoundingClientRect(), now = [box.x, box.y, box.width, box.height].join();
                still = now === last ? still + 1 : 0;
                last = now;
                if (still < 4) requestAnimationFrame(look);
                else done(true);
            }());""", element)

    def hover(self, element, x=0, y=0):
        self.into_view(element)
        self.pointer(element, x, y)

    def click(self, element, x=0, y=0):
        self.into_view(element)
        self.pointer(element, x, y, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def drag(self, element, begin, end, y=0):
        """Drags between points of an element, relative to its middle."""
        self.into_view(element)
        move = {"type": "pointerMove", "duration": 30, "origin": element, "y": int(y)}
        self.pointer(element, begin, y, {"type": "pointerDown", "button": 0}, dict(move, x=int((begin + end) / 2)),
                     dict(move, x=int(end)), {"type": "pointerUp", "button": 0})

    def type(self, *keys):
        """Keys by name (Enter, ArrowDown), or texts."""
        pressed = [key for word in keys for key in ([KEYS[word]] if word in KEYS else word)]
        actions = [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")]
        self.ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    # --- pixels ---

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("GET", self.session + "/screenshot")))

    def colours(self, element):
        """The number of pixels of an element by colour, "red,green,blue", counted by the page in a screenshot."""
        self.into_view(element)
        shot = self.ask("GET", f"{self.session}/element/{element[ELEMENT]}/screenshot")
        return self.run_async("""
            const [png, done] = arguments, image = new Image();
            image.onload = function () {
                const canvas = document.createElement("canvas"), counts = {};
                canvas.width = image.width;
                canvas.height = image.height;
                const ink = canvas.getContext("2d");
                ink.drawImage(image, 0, 0);
                const bytes = ink.getImageData(0, 0, image.width, image.height).data;
                for (let i = 0; i < bytes.length; i += 4) {
                    const colour = bytes[i] + "," + bytes[i + 1] + "," + bytes[i + 2];
                    counts[colour] = (counts[colour] || 0) + 1;
                }
                done(counts);
            };
            image.src = "data:image/png;base64," + png;""", shot)
