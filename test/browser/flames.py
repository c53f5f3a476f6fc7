#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""flames.py MAKE_FLAMES TRACEKIT: what a flame graph does in a browser, as TAP.

Speaks the WebDriver protocol (W3C) with chromedriver. Each action is checked by what the page then
shows; an error of a script fails the test that it happens in.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class Browser:
    def __init__(self, folder):
        self.driver = subprocess.Popen(
            ['chromedriver', '--port=0'], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if 'successfully on port ' in line:
                self.base = 'http://127.0.0.1:' + line.split('on port ')[1].strip().rstrip('.')
                break
        try:
            self.begin(folder)
        except BaseException:
            self.stop()
            raise

    def begin(self, folder):
        arguments = ['--headless', '--no-sandbox', '--disable-gpu', '--window-size=1300,900',
                     '--user-data-dir=' + folder + '/profile']
        answer = self.ask('POST', '/session', {'capabilities': {'alwaysMatch': {
            'unhandledPromptBehavior': 'ignore',
            'goog:loggingPrefs': {'browser': 'ALL'},
            'goog:chromeOptions': {'args': arguments}}}})
        self.base += '/session/' + answer['sessionId']

    def ask(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == 'POST' else None
        request = urllib.request.Request(
            self.base + path, data, {'Content-Type': 'application/json'}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)['value']['message'].split('\n')[0]) from None

    def close(self):
        try:
            self.ask('DELETE', '')
        finally:
            self.stop()

    def stop(self):
        self.driver.terminate()
        self.driver.wait()

    def run(self, script):
        return self.ask('POST', '/execute/sync', {'script': script, 'args': []})

    def open(self, url):
        # Only what is behind "#" would not be loaded anew.
        self.ask('POST', '/url', {'url': 'about:blank'})
        self.ask('POST', '/url', {'url': url})

    def dark(self, on):
        self.ask('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setEmulatedMedia', 'params': {
            'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if on else 'light'}]}})

    def keys(self, *names):
        codes = {'Escape': '\ue00c', 'Enter': '\ue007', 'F3': '\ue033', 'Control': '\ue009',
                 'ArrowUp': '\ue013', 'ArrowDown': '\ue015', 'ArrowLeft': '\ue012',
                 'ArrowRight': '\ue014'}
        down = [{'type': 'keyDown', 'value': codes.get(name, name)} for name in names]
        up = [{'type': 'keyUp', 'value': codes.get(name, name)} for name in reversed(names)]
        self.ask('POST', '/actions', {'actions': [
            {'type': 'key', 'id': 'keys', 'actions': down + up}]})

    def pointer(self, script, *actions):
        """Moves to the middle of the element that the script returns, and does these."""
        element = {ELEMENT: self.run(script)[ELEMENT]}
        moves = [{'type': 'pointerMove', 'duration': 0, 'origin': element, 'x': 0, 'y': 0}]
        self.ask('POST', '/actions', {'actions': [
            {'type': 'pointer', 'id': 'mouse', 'actions': moves + list(actions)}]})

    def click(self, script):
        self.pointer(script, {'type': 'pointerDown', 'button': 0},
                     {'type': 'pointerUp', 'button': 0})

    def answer(self, text):
        """Answers the question that is open."""
        self.ask('POST', '/alert/text', {'text': text})
        self.ask('POST', '/alert/accept')

    def errors(self):
        return [entry['message'] for entry in self.ask('POST', '/se/log', {'type': 'browser'})
                if entry['level'] == 'SEVERE']


def frame(name):
    return ('return [...document.querySelectorAll(".frames > g")].find((group) => '
            'group.querySelector("title").textContent.startsWith(%s + "\\n"))'
            % json.dumps(name))


def button(name):
    return 'return document.querySelector(".button.%s")' % name


class Page:
    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def width(self, name):
        """In percent of the picture; 0: not shown."""
        return self.browser.run(
            'const group = (() => { %s })(); return group.style.display === "none" ? 0 : '
            'group.querySelector("rect").getBoundingClientRect().width / '
            'document.querySelector("svg.flame").getBoundingClientRect().width * 100' % frame(name))

    def top(self, name):
        return self.browser.run(
            'return (() => { %s })().querySelector("rect").getBoundingClientRect().top'
            % frame(name))

    def fill(self, name):
        return self.browser.run(
            'return getComputedStyle((() => { %s })().querySelector("rect")).fill' % frame(name))

    def text(self, selector):
        return self.browser.run(
            'return document.querySelector(%s).textContent' % json.dumps(selector))

    def hash(self):
        return self.browser.run('return location.hash')


def near(actual, expected):
    assert abs(actual - expected) < 0.5, 'expected %s, got %s' % (expected, actual)


def same(actual, expected):
    assert actual == expected, 'expected %r, got %r' % (expected, actual)


# Weights of make_flames.c: all 101, shop 95, serve 80, read 60, write 20, idle 15.

def shows(page):
    near(page.width('all'), 100)
    near(page.width('shop'), 9500 / 101)
    near(page.width('read'), 6000 / 101)
    assert page.top('all') > page.top('shop') > page.top('main') > page.top('read')


def zooms(page):
    page.browser.click(frame('serve'))
    near(page.width('serve'), 100)
    near(page.width('read'), 75)
    near(page.width('all'), 100)
    near(page.width('idle'), 0)
    assert page.hash().startswith('#zoom=')
    page.browser.click(button('reset'))
    near(page.width('idle'), 1500 / 101)


def searches(page):
    for ask in (lambda: page.browser.click(button('search')), lambda: page.browser.keys('F3'),
                lambda: page.browser.keys('Control', 'f')):
        ask()
        page.browser.answer('^(serve|read|idle)$')
        same(page.text('.matched'), 'matched: %.2f %%' % (9500 / 101))
        same(page.browser.run('return document.querySelectorAll(".match").length'), 3)
        page.browser.keys('Escape')
        same(page.text('.matched'), '')
    page.browser.keys('F3')
    page.browser.answer('(')
    assert 'regular expression' in page.text('.details')


def hovers(page):
    page.browser.pointer(frame('write'))
    same(page.text('.details'), 'write  20 samples, 19.80 %')


def walks(page):
    page.browser.pointer(frame('serve'))
    page.browser.keys('ArrowUp')
    assert page.text('.details').startswith('read ')
    page.browser.keys('ArrowRight')
    assert page.text('.details').startswith('write ')
    page.browser.keys('ArrowLeft')
    page.browser.keys('ArrowDown')
    assert page.text('.details').startswith('serve ')
    page.browser.keys('Enter')
    near(page.width('serve'), 100)
    page.browser.keys('Escape')
    near(page.width('serve'), 8000 / 101)


def turns(page):
    page.browser.click(button('icicle'))
    assert page.top('all') < page.top('shop') < page.top('read')
    same(page.hash(), '#icicle=1')


def colours(page):
    kinds = [page.fill(name) for name in ('shop', 'main', 'serve', 'read')]
    same(len(set(kinds)), 4)
    page.browser.click(button('modules'))
    same(page.fill('main'), page.fill('read'))
    same(page.fill('shop'), kinds[0])


def remembers(page):
    page.browser.open(page.url + '#search=read&icicle=1&modules=1')
    same(page.text('.matched'), 'matched: %.2f %%' % (6000 / 101))
    assert page.top('all') < page.top('shop')
    zoom = page.browser.run('return [...document.querySelectorAll(".frames > g")].indexOf('
                            '(() => { %s })())' % frame('serve'))
    page.browser.open(page.url + '#zoom=%d' % zoom)
    near(page.width('read'), 75)
    page.browser.open(page.url + '#zoom=99999999&search=)')
    near(page.width('all'), 100)


def is_safe(page):
    same(page.browser.run('return window.hacked === undefined'), True)
    near(page.width('</title><script>window.hacked=1</script>'), 100 / 101)
    near(page.width('&lt;script&gt;'), 100 / 101)
    same(page.browser.run('return document.querySelectorAll("img, .frames script").length'), 0)


def fits(page):
    page.browser.ask('POST', '/window/rect', {'width': 500, 'height': 700})
    near(page.width('read'), 6000 / 101)
    same(page.browser.run('return document.documentElement.scrollWidth > innerWidth'), False)
    page.browser.ask('POST', '/window/rect', {'width': 1300, 'height': 900})


# Weights of DIFFERENCE, before and now.
DIFFERENCE = (['shop;serve;read 40', 'shop;serve;gone 40', 'shop;idle 20'],
              ['shop;serve;read 60', 'shop;serve;new 20', 'shop;idle 20', '<b>;c 0'])


def compares(page):
    near(page.width('read'), 60)
    near(page.width('new'), 20)
    near(page.width('gone'), 0)
    page.browser.pointer(frame('read'))
    same(page.text('.details'), 'read  60 samples, 60.00 %; before 40, 40.00 % (+50.0 %)')
    page.browser.pointer(frame('new'))
    same(page.text('.details'), 'new  20 samples, 20.00 %; not before')
    same(page.fill('idle'), page.fill('shop'))
    same(len(set(page.fill(name) for name in ('idle', 'read', 'new', 'gone'))), 4)


def goes_back(page):
    page.browser.click(button('before'))
    near(page.width('read'), 40)
    near(page.width('gone'), 40)
    near(page.width('new'), 0)
    same(page.hash(), '#before=1')
    page.browser.pointer(frame('gone'))
    same(page.text('.details'), 'gone  0 samples, 0.00 %; before 40, 40.00 % (gone)')
    page.browser.click(frame('gone'))
    near(page.width('gone'), 100)
    # It has no width now: the whole picture is shown.
    page.browser.click(button('before'))
    near(page.width('shop'), 100)
    near(page.width('read'), 60)
    page.browser.open(page.url + '#before=1&search=gone')
    same(page.text('.matched'), 'matched: 40.00 %')


# Of six: the digits of widths and places do not add up.
SIXTHS = ['a 2', 'b;c 1', 'b;d 1', 'e 2']


def is_exact(page):
    """Callees are those of the walk, whatever the digits of places say."""
    page.browser.click(frame('b'))
    near(page.width('b'), 100)
    near(page.width('c'), 50)
    near(page.width('d'), 50)
    page.browser.pointer(frame('d'))
    page.browser.keys('ArrowDown')
    assert page.text('.details').startswith('b ')
    page.browser.keys('ArrowUp')
    assert page.text('.details').startswith('c ')
    page.browser.keys('F3')
    page.browser.answer('b|c|d')
    same(page.text('.matched'), 'matched: 33.33 %')


def is_dark(page):
    """As the system wishes."""
    for wish, colour in ((True, 'rgb(27, 30, 34)'), (False, 'rgb(255, 255, 255)')):
        page.browser.dark(wish)
        same(page.browser.run('return getComputedStyle(document.querySelector("svg.flame"))'
                              '.backgroundColor'), colour)


def column(page, number):
    return page.browser.run('return [...document.querySelectorAll("tbody tr")].map('
                            '(row) => row.cells[%d].textContent)' % number)


def sorts(page):
    """A click on the head of a column sorts the table, on a function searches for it."""
    page.browser.click('return document.querySelectorAll("th")[0]')
    selves = [int(text) for text in column(page, 0)]
    same(selves, sorted(selves, reverse=True))
    page.browser.click('return document.querySelectorAll("th")[4]')
    same(column(page, 4), sorted(column(page, 4)))
    for name, share in (('read', 6000), (']]><script>window.hacked=1</script>', 100)):
        page.browser.click('return [...document.querySelectorAll("[data-name]")].find('
                           '(cell) => cell.textContent === %s)' % json.dumps(name))
        same(page.text('.matched'), 'matched: %.2f %%' % (share / 101))


def says_at_least(page):
    """A match may be in frames that are left out."""
    page.browser.keys('F3')
    page.browser.answer('^hot$')
    same(page.text('.matched'), 'matched: at least 0.00 %')


def compares_shares(page):
    """Widths of before are its own, however they are scaled."""
    page.browser.click(button('before'))
    near(page.width('many'), 96)
    near(page.width('one'), 1)
    near(page.width('three'), 3)
    page.browser.pointer(frame('three'))
    same(page.text('.details'), 'three  5 samples, 50.00 %; before 0.3, 3.00 % (+1566.7 %)')


def has_nothing_left(page):
    """All that was is gone."""
    near(page.width('gone'), 0)
    near(page.width('all'), 100)
    page.browser.click(button('before'))
    near(page.width('gone'), 100)


DIFFERENCES = [('two runs: widths of the second, and what has changed', compares),
               ('two runs: widths of the first, and what is gone', goes_back)]
CASES = [('frames are as wide as they weigh, above their callers', shows),
         ('a click zooms, a button goes back', zooms),
         ('search by a regular expression, with the matched share', searches),
         ('hover says name, weight and share', hovers),
         ('arrows, Enter and Escape', walks),
         ('upside down', turns),
         ('colours by kind, or by module', colours),
         ('the address keeps what is shown', remembers),
         ('no name becomes markup or script', is_safe),
         ('a narrow window', fits),
         ('dark and light by the wish of the system', is_dark)]


def check(browser, number, name, page, case):
    try:
        browser.open(page.url)
        browser.errors()
        case(page)
        errors = browser.errors()
        assert not errors, errors
        print('ok %d - %s' % (number, name), flush=True)
        return True
    except (AssertionError, RuntimeError) as error:
        print('# %s\nnot ok %d - %s' % (error, number, name), flush=True)
        return False


def stays_in_sight(page):
    """The head of a picture that is higher than the window, wherever that is scrolled to."""
    assert page.browser.run('return scrollY') > 1000
    for place in (0, 700, 1500):
        page.browser.run('scrollTo(0, %d)' % place)
        page.browser.run('return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        near(page.browser.run('return document.querySelector(".head").getBoundingClientRect().top'), 0)
    page.browser.run('scrollTo(0, document.documentElement.scrollHeight)')
    page.browser.pointer(frame('f1'))
    same(page.text('.details'), 'f1  1 samples, 100.00 %')
    page.browser.click(button('icicle'))
    same(page.hash(), '#icicle=1')


def draws_100000(page):
    begin = time.monotonic()
    page.browser.open(page.url)
    page.browser.run('return document.querySelectorAll(".frames > g").length')
    print('# 100,000 stacks: shown after %.2f s, %d bytes' % (
        time.monotonic() - begin, os.path.getsize(page.url[len('file://'):])))
    assert os.path.getsize(page.url[len('file://'):]) < 5000000


def obstacle():
    """Why there is no browser here; None: there is one."""
    for name in ('chromedriver', 'chromium'):
        if not shutil.which(name):
            return name + ' is not installed'
    try:
        socket.getaddrinfo('localhost', None)
    except OSError:
        return 'chromedriver looks for localhost, which has no address here'
    return None


def make_files(folder):
    """Pictures of known frames; the difference of two runs; and a large one."""
    make_flames, tracekit = sys.argv[1:]
    subprocess.run([make_flames, folder], check=True)
    deep = ['%s 1' % ';'.join('f%d' % i for i in range(200))]
    many = ['root;f%d;hot 1' % i for i in range(50000)]
    for name, lines in (('deep', deep), ('sixths', SIXTHS), ('many', many),
                        ('hundred', ['m;many 96', 'm;one 1', 'm;three 3']),
                        ('nothing', ['gone 0']), ('something', ['gone 7']),
                        ('ten', ['m;one 5', 'm;three 5']),
                        ('before', DIFFERENCE[0]), ('now', DIFFERENCE[1]), ('large', [
            'p%d;function_%d;call_%d;leaf_%d %d' % (i % 7, i % 100, i % 10000, i, 1 + i % 13)
            for i in range(100000)])):
        with open('%s/%s' % (folder, name), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines) + '\n')
    for command in (['-o', 'large.svg', 'large'], ['-o', 'deep.svg', 'deep'],
                    ['-o', 'sixths.svg', 'sixths'], ['-o', 'many.svg', 'many'],
                    ['--diff', 'something', '-o', 'nothing.svg', 'nothing'],
                    ['--diff', 'hundred', '-n', '-o', 'shares.svg', 'ten'],
                    ['--diff', 'before', '-o', 'diff.svg', 'now'],
                    ['--diff', 'before', '-o', 'diff.html', 'now']):
        subprocess.run([tracekit, 'flamegraph', *command], check=True, cwd=folder)


def main():
    plan = [(kind, name, file, case) for cases, stem in ((CASES, None), (DIFFERENCES, 'diff'))
            for kind, file in (('SVG', (stem or 'flames') + '.svg'),
                               ('page', (stem or 'page') + '.html'))
            for name, case in cases]
    plan.append(('page', 'a table that is sorted, and searches', 'page.html', sorts))
    plan.append(('SVG', 'callees of places with many digits', 'sixths.svg', is_exact))
    plan.append(('SVG', 'the share of a match where frames are left out', 'many.svg', says_at_least))
    plan.append(('SVG', 'two runs: shares of very different sums', 'shares.svg', compares_shares))
    plan.append(('SVG', 'two runs: nothing in the second', 'nothing.svg', has_nothing_left))
    plan.append(('SVG', 'the head stays in sight', 'deep.svg', stays_in_sight))
    plan.append(('SVG', '100,000 stacks are drawn, in less than 5 MB', 'large.svg', draws_100000))
    reason = obstacle()
    print('1..%d' % len(plan))
    if reason:
        for i in range(len(plan)):
            print('ok %d - a flame graph in a browser # SKIP %s' % (i + 1, reason))
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        make_files(folder)
        browser = Browser(folder)
        try:
            passed = [check(browser, number + 1, '%s: %s' % (kind, name),
                            Page(browser, 'file://%s/%s' % (folder, file)), case)
                      for number, (kind, name, file, case) in enumerate(plan)]
        finally:
            browser.close()
    sys.exit(not all(passed))


main()
