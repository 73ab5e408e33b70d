# ruff: noqa: E501
"""Answers that try to get out, to stay forever, or to pass for another: each must be contained."""

from __future__ import annotations

SECRET = "planted-secret-5d1f"

# name: (what the answer is, the kinds of outcome that count as contained)
HOSTILE: dict[str, tuple[str, set[str]]] = {
    "infinite loop": ("def f(x):\n    while True: pass", {"timeout"}),
    "infinite loop at load": ("while True: pass", {"not_run"}),
    "catches everything in a loop": (
        "def f(x):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        {"timeout"},
    ),
    "memory by string": ("def f(x):\n    return len('x' * (1 << 30))", {"memory"}),
    "memory by list": ("def f(x):\n    return [0] * (1 << 29)", {"memory"}),
    "memory by growth": ("def f(x):\n    a = ['x']\n    while True: a += a", {"memory", "timeout"}),
    "memory by growth, caught": (
        "def f(x):\n    a = ['x']\n    while True:\n        try: a += a\n        except MemoryError: pass",
        {"memory", "timeout", "crashed"},
    ),
    "huge integer": ("def f(x):\n    return 10 ** 10 ** 9", {"timeout", "memory"}),
    "huge integer as text": ("def f(x):\n    return str(7 ** 7 ** 7)", {"raised"}),
    "fork": ("import os\ndef f(x):\n    return os.fork()", {"raised"}),
    "reads a file": ("def f(x):\n    return open('/etc/passwd').read()", {"raised"}),
    "lists the root": ("import os\ndef f(x):\n    return [n for n in os.listdir('/') if n in ('etc', 'home', 'root')]", {"raised", "empty"}),
    "home folder": (
        "import os\ndef f(x):\n    h = os.path.expanduser('~')\n    return os.listdir(h if h != '~' else '/root')",
        {"raised"},
    ),
    "socket": ("def f(x):\n    import socket\n    return socket.create_connection(('127.0.0.1', 80))", {"not_run", "raised"}),
    "url": ("def f(x):\n    import urllib.request\n    return urllib.request.urlopen('http://127.0.0.1').read()", {"not_run", "raised"}),
    "signals the parent": ("import os\ndef f(x):\n    os.kill(os.getppid(), 9)", {"raised"}),
    "signals itself": ("import signal\ndef f(x):\n    signal.raise_signal(9)", {"raised", "crashed", "exited", "not_run"}),
    "deep recursion": ("def f(x):\n    return f(x)", {"raised", "crashed"}),
    "raised recursion limit": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f(x)", {"raised", "crashed", "memory", "timeout"}),
    "recursion in C": (
        "import sys\ndef f(x):\n    sys.setrecursionlimit(10**8)\n    a = []\n    for _ in range(10**5): a = [a]\n    return repr(a)",
        {"raised", "crashed"},
    ),
    "catastrophic regex": ("import re\ndef f(x):\n    return re.match('(a+)+$', 'a' * 40 + 'b')", {"timeout"}),
    "sys.exit": ("import sys\ndef f(x):\n    sys.exit(0)", {"exited"}),
    "exit at load": ("exit()", {"not_run"}),
    "os._exit": ("import os\ndef f(x):\n    os._exit(0)", {"exited"}),
    "a gigabyte printed": ("def f(x):\n    for _ in range(1024): print('x' * (1 << 20))", {"value", "too_large"}),
    "a gigabyte written": (
        "import os\ndef f(x):\n    while True:\n        try: os.write(1, b'x' * (1 << 20))\n        except OSError: pass",
        {"too_large"},
    ),
    "a gigabyte to the error stream": ("import os\ndef f(x):\n    for _ in range(1024): os.write(2, b'x' * (1 << 20))", {"too_large", "raised"}),
    "writes a file": ("def f(x):\n    open('escaped.txt', 'w').write('out')", {"raised"}),
    "writes a file above": ("def f(x):\n    open('/tmp/escaped.txt', 'w').write('out')", {"raised"}),
    "makes a folder": ("import os\ndef f(x):\n    os.mkdir('/tmp/escaped')", {"raised"}),
    "environment": ("import os\ndef f(x):\n    return dict(os.environ)", {"value"}),
    "ctypes": ("def f(x):\n    import ctypes\n    return ctypes.CDLL(None).getpid()", {"not_run"}),
    "sleep": ("import time\ndef f(x):\n    time.sleep(10**6)\n    return 'slept'", {"value"}),
    "waits for input": ("import select\ndef f(x):\n    return select.select([0], [], [])", {"value", "raised", "not_run"}),
    "nested repr": ("def f(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a", {"too_large"}),
    "a list in itself": ("def f(x):\n    a = []\n    a.append(a)\n    return a", {"value"}),
    "endless generator": ("import itertools\ndef f(x):\n    return (n for n in itertools.count())", {"too_large"}),
    "subprocess": ("import subprocess\ndef f(x):\n    return subprocess.run(['id'])", {"raised", "not_run"}),
    "os.system": ("import os\ndef f(x):\n    return os.system('id')", {"raised"}),
    "threads": ("import threading\ndef f(x):\n    threading.Thread(target=print).start()", {"raised", "not_run"}),
    "fake result lines": (
        "import os\ndef f(x):\n    os.write(1, b'0' * 32 + b' 0 value 43')\n    print('0 value 43')\n    return 1",
        {"value"},
    ),
    "frames for other calls": (
        "import sys, os\ndef f(x):\n    g = sys._getframe(1)\n    while g and 'nonce' not in g.f_locals: g = g.f_back\n"
        "    for n in range(99): os.write(1, (g.f_locals['nonce'] + f' {n} value 43').encode())\n    return 1",
        {"value"},
    ),
    "a frame that is no JSON": (
        "import sys, os\ndef f(x):\n    g = sys._getframe(1)\n    while g and 'nonce' not in g.f_locals: g = g.f_back\n"
        "    os.write(1, (g.f_locals['nonce'] + ' 0 value ' + '[' * 9999).encode())\n    os._exit(0)",
        {"crashed"},
    ),
    "patched builtins": (
        "import builtins\nput = setattr\nfor n in dir(builtins):\n    if n[0].islower(): put(builtins, n, None)\n"
        "def f(x):\n    return 1",
        {"value", "raised"},
    ),
    "patched json": ("import json\njson.dumps = lambda *a, **k: '42'\njson.loads = None\ndef f(x):\n    return 1", {"value"}),
    "patched os": ("import os\nos.write = lambda *a: 0\nos._exit = lambda n: None\ndef f(x):\n    return 1", {"value"}),
    "closed descriptors": ("import os\nfor n in range(9):\n    try: os.close(n)\n    except OSError: pass\ndef f(x):\n    return 1", {"value", "exited", "not_run"}),
    "closed streams": ("import sys\nsys.stdout.close()\nsys.stdin.close()\ndef f(x):\n    return 1", {"value"}),
    "__eq__ that lies": ("class A:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x):\n    return A()", {"value"}),
    "__repr__ that lies": ("class A(int):\n    def __repr__(self): return '42'\n    __str__ = __repr__\ndef f(x):\n    return A(1)", {"value"}),
    "__repr__ that loops": ("class A:\n    def __repr__(self):\n        while True: pass\ndef f(x):\n    return [A()]", {"value"}),
    "__hash__ that loops": ("class A:\n    def __hash__(self):\n        while True: pass\ndef f(x):\n    return {A(): 1}", {"timeout"}),
    "__class__ that lies": ("class A:\n    __class__ = int\ndef f(x):\n    return A()", {"value"}),
    "__getattribute__ that loops": (
        "class A:\n    def __getattribute__(self, n):\n        while True: pass\ndef f(x):\n    return A()",
        {"value"},
    ),
    "a metaclass that lies": (
        "class M(type):\n    __name__ = '42'\n    def __eq__(self, o): return True\n    def __hash__(self): return 0\n"
        "    def mro(cls): return [cls, object]\nclass A(metaclass=M): pass\ndef f(x):\n    return A()",
        {"value"},
    ),
    "an exception that lies": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\n    __repr__ = __str__\ndef f(x):\n    raise E",
        {"raised"},
    ),
    "dict iteration that loops": (
        "class D(dict):\n    def items(self):\n        while True: pass\n    __iter__ = keys = items\ndef f(x):\n    return D(a=1)",
        {"value"},
    ),
    "a trace function": ("import sys\ndef f(x):\n    sys.settrace(lambda *a: 1 / 0)\n    return 1", {"value", "raised", "crashed", "exited"}),
    "garbage collector's finalizer": ("class A:\n    def __del__(self):\n        while True: pass\ndef f(x):\n    A()\n    return 1", {"timeout"}),
    "source of a megabyte": ("x = " + "-" * 1_000_000 + "1\ndef f(x):\n    return 1", {"not_run"}),
    "deeply nested source": ("x = " + "(" * 50_000 + ")" * 50_000, {"not_run"}),
    "null bytes": ("def f(x):\n    return 1\0", {"not_run"}),
    "lone surrogate": ("def f(x):\n    return '\ud800'", {"value", "not_run"}),
}  # fmt: skip
