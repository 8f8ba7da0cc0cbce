"""The explorer: who gets in, what it refuses, and that what a person moves is what the exact side computes."""

import http.client
import json
import os
import signal
import threading
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import pytest

from gpbe import exact, mdp
from gpbe.look.explorer import Explorer
from gpbe.look.explorer.changes import MOST, changed
from gpbe.look.explorer.server import MOST_BYTES
from helpers import chromium


@pytest.fixture(scope="module")
def explorer():
    with Explorer(mdp.problem("kolter", p=0.6)) as found:
        thread = threading.Thread(target=found.serve, daemon=True)
        thread.start()
        yield found
        found.server.shutdown()
        thread.join()


@pytest.fixture
def ask(explorer):
    """Status and text of what is answered; `path` comes after the token unless it begins with a slash."""

    def request(path, body=None, method=None, **headers):
        whole = path if path.startswith("/") else f"/{explorer.token}/{path}"
        with closing(http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=30)) as connection:
            connection.request(method or ("GET" if body is None else "POST"), whole, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())

    return request


@pytest.fixture
def refused(ask):
    """What is said, in one line, to a request that is refused with a status."""

    def check(status, *request, **headers):
        found, text, _ = ask(*request, **headers)
        assert found == status
        said = json.loads(text)["error"]
        assert "\n" not in said
        assert "Traceback" not in said
        return said

    return check


def test_the_page_is_whole_and_may_ask_nobody_else(ask):
    status, text, headers = ask("")
    assert status == 200
    assert text.startswith("<!DOCTYPE html>")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_only_who_knows_the_address_gets_in(explorer, ask, refused):
    for path in ("/", "/solve", "/x/", f"/{explorer.token[:-1]}/", f"/{explorer.token}", f"/{explorer.token}x/problem"):
        assert "the address is not whole" in refused(403, path)
    assert ask("/", "{}")[0] == 403
    assert ask("/%C3%A9/")[0] == 403
    assert refused(404, "nothing") == "there is nothing here"
    assert refused(404, "../etc/passwd") == "there is nothing here"
    assert refused(404, "nothing", "{}") == "there is nothing here"


def test_it_is_reached_on_this_machine_only(explorer):
    assert explorer.server.socket.getsockname()[0] == "127.0.0.1"


def test_another_name_for_this_machine_does_not_lead_here(explorer, ask, refused):
    """DNS rebinding: a site's own name is made to point to 127.0.0.1."""
    for host in ("evil.example", f"evil.example:{explorer.port}", "127.0.0.1", f"127.0.0.1:{explorer.port + 1}", ""):
        assert refused(421, "problem", Host=host) == "this is not the server of that host"
    assert ask("problem", Host=f"localhost:{explorer.port}")[0] == 200


def test_a_page_of_another_origin_is_refused(explorer, ask, refused):
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{explorer.port}"):
        assert "its own page only" in refused(403, "solve", "{}", Origin=origin)
    assert ask("solve", "{}", Origin=f"http://127.0.0.1:{explorer.port}")[0] == 200


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, "\xff", '{"lam": }'])
def test_what_is_not_json_is_refused(refused, body):
    assert refused(400, "solve", body.encode("latin-1"), "POST") == "the request is not JSON"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "should be a JSON object"),
        ({"lamb": 1}, "did you mean 'lam'"),
        ({"lam": 2}, r"it should lie in [0, 1]"),
        ({"lam": "0"}, "should be a number"),
        ({"lam": True}, "should be a number"),
        ({"lam": float("nan")}, "lam"),
        ({"problem": "bairds"}, "did you mean 'baird'?"),
        ({"problem": ["baird"]}, "there is no problem"),
        ({"problem": "/etc/passwd"}, "there is no problem"),
        ({"discount": 1.5}, "discount is 1.5"),
        ({"discount": [0.5]}, "should be one number"),
        ({"discount": 1.0}, "discount"),
        ({"target": [[0.5, 0.6], [0.5, 0.5]]}, "sums to 1.1"),
        ({"target": [[0.5], [0.5, 0.5]]}, "target"),
        ({"target": [0.5, 0.5]}, "it should be (2, 2)"),
        ({"behavior": [[1, 0], [1, 0]]}, "the behavior never takes"),
        ({"features": [["a"], ["b"]]}, "features"),
        ({"features": [[float("inf")], [1]]}, "features"),
        ({"features": [[0], [0]]}, "scale the features"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(refused, given, said):
    assert said in refused(400, "solve", json.dumps(given))


def test_numbers_beyond_floats_are_refused_too(refused):
    assert "could not be computed" in refused(422, "solve", json.dumps({"lam": 10**400}))


def test_requests_are_limited_in_size(refused):
    too_large = "a request should have 1,048,576 bytes at most"
    for length in (str(MOST_BYTES + 1), "9" * 5000):  # announced, and not sent
        assert refused(413, "solve", None, "POST", **{"Content-Length": length}) == too_large
    for length in ("-1", "1e3", "x"):
        assert refused(411, "solve", None, "POST", **{"Content-Length": length}) == "the request should tell its length"


def test_answers_are_those_of_the_exact_side(ask):
    given = {"problem": "random-walk-5", "lam": 0.3, "discount": 0.8, "target": [[0.2, 0.8]] * 5, "bounds": True}
    status, text, _ = ask("solve", json.dumps(given))
    assert status == 200
    found = json.loads(text)
    walk = mdp.PredictionProblem(
        mdp.random_walk(5, 0.8), [0.2, 0.8], [0.5, 0.5], mdp.problem("random-walk-5").features, name="random-walk-5"
    )
    expected = exact.diagnose(walk, 0.3)
    np.testing.assert_allclose(found["values"], walk.values)
    for one in found["solutions"]:
        finding = expected.finding(one["objective"], one["weighting"])
        np.testing.assert_allclose(one["values"], finding.solution.values, atol=1e-12)
        assert one["rms_value_error"]["behavior"] == pytest.approx(finding.error_behavior)
    assert found["td"]["behavior"]["verdict"] == expected.stability["behavior"].verdict
    assert (
        f'<td class="number">{expected.finding("pbe", "behavior").error_behavior:.4g}</td>'
        in found["html"]["solutions"]
    )
    assert "Tsitsiklis and Van Roy 1997" in found["html"]["bounds"]


def test_ends_of_episodes_stay_ends_whatever_the_discount():
    walk = mdp.problem("random-walk-5")
    other = changed(walk, {"discount": 0.5})
    np.testing.assert_allclose(other.mdp.discount, 0.5 * walk.mdp.discount)
    assert (other.mdp.discount == 0).sum() == (walk.mdp.discount == 0).sum() > 0
    assert changed(walk, {}).mdp is walk.mdp
    np.testing.assert_array_equal(changed(mdp.baird(), {"features": mdp.baird().features}).initial_weights[-1], 10)


def test_a_changed_problem_is_saved_as_a_file_that_other_commands_read(ask, tmp_path, run):
    behavior = [[0.3, 0.7], [0.25, 0.75]]
    status, text, _ = ask("problem.toml", json.dumps({"behavior": behavior, "discount": 0.9, "lam": 0.5}))
    assert status == 200
    path = tmp_path / "mine.toml"
    path.write_text(text)
    found = mdp.load(path)
    np.testing.assert_array_equal(found.behavior, behavior)
    assert run("diagnose", str(path), "--json")["states"] == 2


def test_problems_that_are_too_large_are_named(run, capsys, refuses):
    refuses(lambda: Explorer(mdp.four_rooms()), f"four-rooms is a batch; explore takes one problem of {MOST} states")
    refuses(lambda: Explorer(mdp.find("grid")), "is sparse")
    large = mdp.PredictionProblem(mdp.random_walk(MOST + 1), [0.5, 0.5], [0.5, 0.5])
    refuses(
        lambda: Explorer(large),
        f"has {MOST + 1} states and {MOST + 1} features; .* gpbe diagnose --out page.html shows it",
    )
    with pytest.raises(SystemExit):
        run("explore", "bairds", "--no-browser")
    assert capsys.readouterr().err == "gpbe: there is no problem 'bairds'; did you mean 'baird'?\n"


def test_ports(explorer, refuses):
    refuses(
        lambda: Explorer(mdp.baird(), explorer.port), f"cannot listen on port {explorer.port}: .*; leave --port out"
    )
    refuses(lambda: Explorer(mdp.baird(), 70_000), "should lie in 0 to 65535")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_well_when_told_to(number, monkeypatch, run):
    """It says where it is, serves, and ends without an error; the port is free again."""
    served, serve = [], Explorer.serve

    def interrupted(explorer):
        served.append(explorer.port)
        threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
        serve(explorer)

    monkeypatch.setattr(Explorer, "serve", interrupted)
    said = run("explore", "baird", "--no-browser", "--json")
    assert urlsplit(said["address"]).port == served[0]
    Explorer(mdp.baird(), served[0]).close()


class Page:
    """The explorer in a browser."""

    def __init__(self, browser, address):
        self.browser = browser
        browser.open(address, 1280)
        self.settle()

    def settle(self):
        waited = """new Promise((done, lost) => {
            let left = 600;
            const look = () => document.body.dataset.settled === 'yes' ? done(true)
                : left-- ? setTimeout(look, 50) : lost('busy');
            look();
        })"""
        assert self.browser.evaluate(waited)

    def drag(self, slider, share):
        """Take a slider's thumb with the mouse and move it to a share of its length."""
        find = f"""(() => {{ const e = document.getElementById('{slider}'); e.scrollIntoView({{block: 'center'}});
            const r = e.getBoundingClientRect(), at = (e.value - e.min) / (e.max - e.min);
            return [r.left, r.top + r.height / 2, r.width, at]; }})()"""
        left, y, width, at = self.browser.evaluate(find)

        def place(part):
            return left + 8 + part * (width - 16)  # the thumb is 16 wide, and stays within

        mouse = {"button": "left", "buttons": 1, "clickCount": 1, "y": y}
        self.browser.call("Input.dispatchMouseEvent", type="mousePressed", x=place(at), **mouse)
        for step in np.linspace(at, share, 5)[1:]:
            self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place(step), **mouse)
        self.browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=place(share), **mouse)
        self.settle()
        return float(self.browser.evaluate(f"document.getElementById('{slider}').value"))

    def text(self, selector):
        return self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def errors(self):
        """RMSVE under d_b by objective and weighting, as the table shows it."""
        rows = self.browser.evaluate(
            "[...document.querySelectorAll('#solutions tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
        )
        return {(row[0], row[1]): row[2] for row in rows}


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium on this machine; name one with CHROMIUM=/path/to/it")
def test_what_is_dragged_is_what_the_exact_side_computes(explorer):
    browser = chromium.Browser(str(chromium.find()))
    try:
        page = Page(browser, explorer.address)
        problem = mdp.problem("kolter", p=0.6)
        first = page.errors()
        assert first["PBE", "db"] == f"{exact.diagnose(problem).finding('pbe', 'behavior').error_behavior:.4g}"

        lam, p = page.drag("lam", 0.4), page.drag("behavior-0", 0.8)
        assert abs(lam - 0.4) < 0.05
        assert abs(p - 0.8) < 0.05
        moved = problem.replace(behavior=[[p, 1 - p], [p, 1 - p]])
        expected = exact.diagnose(moved, lam)
        shown = page.errors()
        assert shown != first
        for objective in ("ve", "pbe", "be", "tde"):
            said = f"{expected.finding(objective, 'behavior').error_behavior:.4g}"
            assert shown[objective.upper(), "db"].rstrip(" *") == said
        assert page.text("#verdicts .verdict").endswith(f"off-policy TD: {expected.stability['behavior'].verdict}")
        marks = "document.querySelectorAll('#values polygon, #values circle').length"
        assert browser.evaluate(marks) == 6 * 2, "six minima in each of two states"

        page.drag("behavior-0", 1.0)
        assert "the behavior never takes" in page.text("#error"), "what cannot be is told, and nothing breaks"
        page.drag("behavior-0", 0.5)
        assert browser.evaluate("document.getElementById('error').hidden")
        asked = [said.removeprefix("the page asked for ") for said in browser.messages]
        refusals = [said for said in asked if "status of 400" in said]
        assert all(said.startswith(explorer.address) or said in refusals for said in asked), asked
        for width in (420, 1280):
            browser.open(explorer.address, width)
            page.settle()
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        browser.close()
