"""What student code cannot do, in each sandbox of this machine; and what it still can."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sealed import TIERS, run, zygote_of

from autograder.faults import SessionEnded
from autograder.runner import readable
from autograder.runner.readable import beneath

ROOT = Path(__file__).parents[2]
WARM = ("numpy", "torch", "matplotlib.pyplot")
NOT_THERE = "FileNotFoundError|PermissionError"
REFUSED = "PermissionError"

READ = "open({!r}, 'rb').read()\nreturn 'read'"
CALL = "ctypes.set_errno(0)\nreturn libc.{}, ctypes.get_errno()"

# What is tried -> code, and how it must end.
ATTACKS = {
    "read the users": (READ.format("/etc/passwd"), NOT_THERE),
    "read our tests": (READ.format(__file__), NOT_THERE),
    "read our exercises": (
        READ.format(str(ROOT / "autograder" / "exercises" / "__init__.py")),
        NOT_THERE,
    ),
    "list a home": (
        f"return [n for n in os.listdir({str(Path.home())!r}) if n not in sys.base_prefix]",
        rf"^\[\]$|{NOT_THERE}",
    ),
    "list the repository": (f"return 'README.md' in os.listdir({str(ROOT)!r})", "False|Permission"),
    "import the answers": (
        "import importlib\nimportlib.invalidate_caches()\nimport solutions.softmax",
        "ModuleNotFoundError|PermissionError",
    ),
    "import the judge": (
        "import autograder.judge",
        "ModuleNotFoundError|PermissionError",
    ),
    "read the environment of the parent": (
        "return open(f'/proc/{os.getppid()}/environ').read()",
        NOT_THERE,
    ),
    "read its own memory as a file": ("return open('/proc/self/mem')", NOT_THERE),
    "read the kernel's settings": ("return os.listdir('/sys')[:1]", NOT_THERE),
    "open a disk": ("return os.open('/dev/vda', os.O_RDONLY)", NOT_THERE),
    "write to the packages": (
        "import torch\nopen(torch.__file__, 'a')",
        "OSError|PermissionError",
    ),
    "write to the root": ("open('/x', 'w')", "OSError|PermissionError"),
    "write to a device folder": ("open('/dev/x', 'w')", "OSError|PermissionError"),
    "make a device": ("os.mknod('x', 0o20666, os.makedev(1, 1))", REFUSED),
    "fork": ("return os.fork()", REFUSED),
    "fork by number": (CALL.format("syscall(ctypes.c_long(57), 0)"), r"\(-1, 1\)|\(-1, 38\)"),
    "clone": (
        CALL.format(
            "syscall(ctypes.c_long(56 if os.uname().machine == 'x86_64' else 220),"
            " ctypes.c_long(17), 0, 0, 0, 0)"
        ),
        r"\(-1, 1\)",
    ),
    "clone with a new kind of call": (
        CALL.format("syscall(ctypes.c_long(435), 0, 0)"),
        r"\(-1, 38\)",
    ),
    "run a program": ("os.execv('/usr/bin/true', ['true'])", f"{REFUSED}|{NOT_THERE}"),
    "run a program beside": ("import subprocess\nsubprocess.run(['true'])", REFUSED),
    "run a shell": ("os.posix_spawn('/bin/sh', ['sh'], {})", f"{REFUSED}|{NOT_THERE}"),
    "open a socket": ("import socket\nsocket.socket()", REFUSED),
    "open a local socket": ("import socket\nsocket.socket(socket.AF_UNIX)", REFUSED),
    "open a netlink socket": ("import socket\nsocket.socket(16, 3, 0)", REFUSED),
    "pair datagram sockets": (
        "import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        REFUSED,
    ),
    "listen on a pair": (
        "import socket\na, b = socket.socketpair()\na.listen()",
        REFUSED,
    ),
    "kill the parent": ("os.kill(os.getppid(), 9)", REFUSED),
    "kill everything": ("os.kill(-1, 9)", REFUSED),
    "kill by thread": (
        CALL.format(
            "syscall(ctypes.c_long(234 if os.uname().machine == 'x86_64' else 131),"
            " os.getppid(), os.getppid(), 9)"
        ),
        r"\(-1, 1\)",
    ),
    "have the kernel signal the parent": (
        "import fcntl\na, b = os.pipe()\nfcntl.fcntl(a, fcntl.F_SETOWN, os.getppid())",
        REFUSED,
    ),
    "trace the parent": (CALL.format("ptrace(16, os.getppid(), 0, 0)"), r"\(-1, 1\)"),
    "read the parent's memory": (
        CALL.format("process_vm_readv(os.getppid(), 0, 0, 0, 0, 0)"),
        r"\(-1, 1\)",
    ),
    "mount": (CALL.format("mount(b'none', b'/tmp', b'tmpfs', 0, None)"), r"\(-1, 1\)"),
    "unmount": (CALL.format("umount2(b'/tmp', 2)"), r"\(-1, 1\)"),
    "take new namespaces": (CALL.format("unshare(0x10000000)"), r"\(-1, 1\)"),
    "change the root": ("os.chroot('.')", REFUSED),
    "become root": ("os.setuid(0)", "Error"),
    "raise its limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
        "PermissionError|ValueError",
    ),
    "outlive the parent": (CALL.format("prctl(1, 0, 0, 0, 0)"), r"\(-1, 1\)"),
    "make memory of a file": ("os.memfd_create('x')", REFUSED),
    "set the clock": ("import time\ntime.clock_settime(0, 0)", REFUSED),
    "slow others down": ("os.setpriority(os.PRIO_USER, 0, 19)", REFUSED),
    "use a call of another kind": (
        CALL.format("syscall(ctypes.c_long(0x40000000 + 39))"),
        r"\(-1, 38\)",
    ),
    "see secrets": (
        "return [n for n in os.environ if 'COURSE' in n or 'DATABASE' in n]",
        r"^\[\]$",
    ),
    "find open files": (
        "return [n for n in range(4096) if not libc.fcntl(n, 1) < 0]",
        r"^\[0, 1, 2, 3\]$",
    ),
}

# What students do -> code, and what it returns.
ALLOWED = {
    "torch": (
        "import torch\nreturn float((torch.ones(300, 300) @ torch.ones(300, 300)).sum())",
        "27000000.0",
    ),
    "many torch threads": (
        "import torch\ntorch.set_num_threads(4)\nreturn float(torch.ones(10**6).sum())",
        "1000000.0",
    ),
    "numpy": ("import numpy\nreturn int(numpy.linalg.inv(numpy.eye(50)).sum())", "50"),
    "a late import": ("import xml.dom.minidom, decimal, sqlite3\nreturn 1", "1"),
    "torch.compile's parts": ("import torch._dynamo\nreturn 1", "1"),
    "a plot": (
        "import io, matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\n"
        "plt.plot([1, 2])\nplt.title('a')\nplt.savefig('a.png')\nout = io.BytesIO()\n"
        "plt.savefig(out, format='svg')\n"
        "return os.path.getsize('a.png') > 1000 < len(out.getvalue())",
        "True",
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n    return sum(pool.map(abs, range(-10, 0)))",
        "55",
    ),
    "an alarm": (
        "import signal, time\ndef ring(*_): raise KeyError('rung')\n"
        "signal.signal(signal.SIGALRM, ring)\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\n"
        "try:\n    time.sleep(5)\nexcept KeyError as error:\n    return str(error)",
        "\"'rung'\"",
    ),
    "asyncio": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 3\n"
        "return asyncio.run(f())",
        "3",
    ),
    "temporary files": (
        "import shutil, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    open(folder + '/a', 'w').write('x')\n    shutil.copy2(folder + '/a', 'b')\n"
        "return open('b').read()",
        "'x'",
    ),
    "saving tensors": (
        "import torch\ntorch.save(torch.ones(3), 'x.pt')\nreturn torch.load('x.pt').tolist()",
        "[1.0, 1.0, 1.0]",
    ),
    "a home": ("open(os.path.expanduser('~/.note'), 'w').write('x')\nreturn 1", "1"),
    "the user and the time": (
        "import time, getpass\nreturn getpass.getuser(), time.localtime().tm_year > 2000",
        "('student', True)",
    ),
    "random numbers": ("return len(os.urandom(8))", "8"),
    "its limits": ("import resource\nreturn resource.getrlimit(resource.RLIMIT_CORE)", "(0, 0)"),
    "a repeatable start": (
        "import random, numpy, torch\n"
        "return random.random(), numpy.random.rand(), float(torch.rand(1))",
        "(0.8444218515250481, 0.5488135039273248, 0.49625658988952637)",
    ),
}
# Where the course itself lies in /tmp, its interpreter is shown there, too.
SHOWN = {Path(path).relative_to("/tmp").parts[0] for path in beneath("/tmp")}
OWN_FILES = f"return [n for n in os.listdir('.') if n not in {sorted(SHOWN)}]"


@pytest.fixture(scope="module", params=TIERS)
def zygote(request):
    with zygote_of(request.param, *WARM) as zygote:
        yield zygote


@pytest.fixture
def session(zygote):
    session = zygote.session({})
    yield session
    session.end()


@pytest.mark.parametrize("name", ATTACKS)
def test_it_cannot(name, session):
    code, end = ATTACKS[name]
    assert re.search(end, run(session, code))
    assert run(session, "return 1") == "1"


@pytest.mark.parametrize("name", ALLOWED)
def test_it_can_use(name, session):
    code, result = ALLOWED[name]
    assert run(session, code) == result


def end_of(session, code):
    """Run code and tell its result, or how it ended the session."""
    try:
        return run(session, code)
    except SessionEnded as ended:
        return f"{ended.kind}: {ended}"


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nreturn torch.zeros(10**10).shape",
        "return len(bytearray(3 << 30))",
        "kept = []\nwhile True:\n    kept.append(bytearray(10 << 20))",
        "import numpy\nreturn numpy.ones(10**10).shape",
    ],
)
def test_memory_ends_before_the_machine_has_none(code, session):
    assert "emory" in end_of(session, code)


@pytest.mark.parametrize(
    "code",
    [
        "for n in range(100):\n    open(str(n), 'wb').write(bytes(10 << 20))",
        "for n in range(10**5):\n    open(str(n), 'wb').close()",
        "for n in range(10**5):\n    os.mkdir('d')\n    os.chdir('d')\nreturn 1",
        "for n in range(10**5):\n    os.symlink('/', str(n))\nreturn 1",
    ],
    ids=["bytes", "files", "depth", "links"],
)
def test_the_disk_is_not_filled(code, zygote):
    session = zygote.session({})
    end = end_of(session, f"{code}\nimport time\ntime.sleep(2)")
    assert re.search("No space left|^memory: it wrote more to disk", end)
    session.end()
    assert run(zygote.session({}), OWN_FILES) == "[]"


def test_one_file_has_a_largest_size(session):
    assert "File too large" in run(session, "with open('a', 'wb') as f:\n    f.truncate(1 << 30)")


def test_open_files_run_out_for_itself_alone(session):
    assert "Too many open files" in run(
        session, "kept = [os.open('/dev/null', 0) for _ in range(10**4)]"
    )


def test_threads_run_out_for_itself_alone(session):
    bomb = """
import threading, time
threading.stack_size(65536)
for n in range(10**4):
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError:
        return n < 1000
"""
    assert run(session, bomb) == "True"


def test_nothing_is_left_for_the_next_session(zygote):
    first = zygote.session({})
    write = (
        "open('left', 'w').write('x')\nos.environ['LEFT'] = 'x'\nsys.left = 1\nreturn os.getcwd()"
    )
    place = run(first, write)
    first.end()
    second = zygote.session({})
    look = f"{OWN_FILES}, os.path.exists({place} + '/left'), 'LEFT' in os.environ"
    assert run(second, look) == "([], False, False)"
    assert run(second, "return hasattr(sys, 'left')") == "False"


def test_a_folder_above_its_own_is_closed(session):
    assert "Error" in run(session, "open('../left', 'w').write('x')")


def test_modes_and_dates_outside_do_not_change(session, tmp_path):
    file = tmp_path / "file"
    file.write_text("text")
    file.chmod(0o666)
    tmp_path.chmod(0o777)
    before = file.stat()
    for change in (
        "os.chmod({!r}, 0)",
        "os.utime({!r}, (0, 0))",
        "os.truncate({!r}, 0)",
        "os.remove({!r})",
    ):
        run(session, change.format(str(file)))
    assert file.stat() == before


def test_it_holds_no_capability(session):
    code = """
import struct
data = ctypes.create_string_buffer(24)
libc.capget(struct.pack("=Ii", 0x20080522, 0), data)
return [hex(n) for n in struct.unpack("=6I", data.raw)][:2]
"""
    # root's interpreter may be closed to others: to read it (bit 2) is then kept
    assert run(session, code) in ("['0x0', '0x0']", "['0x4', '0x4']")


HIDE = """
from autograder.runner import readable
import numpy
folder = numpy.__path__[0] + "/linalg"
readable.secrets = lambda: [folder]
"""


@pytest.mark.parametrize("tier", TIERS)
def test_our_source_is_hidden_where_it_is_installed_among_packages(tier):
    read = "import numpy\nreturn len(open(numpy.__path__[0] + '/{}/__init__.py').read()) > 10"
    with zygote_of(tier, "numpy", before=HIDE) as zygote:
        session = zygote.session({})
        assert run(session, read.format("fft")) == "True"
        assert re.search(NOT_THERE, run(session, read.format("linalg")))


def test_the_secrets_are_what_lies_inside_the_trees(tmp_path, monkeypatch):
    for name in ("autograder", "solutions", "numpy"):
        (tmp_path / "packages" / name).mkdir(parents=True)
    monkeypatch.setattr(readable, "trees", lambda: [str(tmp_path)])
    monkeypatch.setattr(readable.site, "getsitepackages", lambda: [str(tmp_path / "packages")])
    found = [str(tmp_path / "packages" / name) for name in ("autograder", "solutions")]
    assert readable.secrets() == found


FEW_RIGHTS = """
from autograder.runner import syscalls
for number in {dropped}:
    syscalls.prctl(syscalls.PR_CAPBSET_DROP, number)
held = open("/proc/self/status").read().split("CapPrm:")[1].split()[0]
syscalls.keep_capabilities(int(held, 16) & ~sum(1 << number for number in {dropped}))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")
@pytest.mark.parametrize("dropped", [[2], [5], [2, 5, 21]], ids=["read", "kill", "container"])
def test_a_root_with_few_rights_still_has_landlock(dropped):
    with zygote_of("landlock", "numpy", before=FEW_RIGHTS.format(dropped=dropped)) as zygote:
        session = zygote.session({})
        assert run(session, "import xml.dom.minidom\nopen('x', 'w').write('x')") == "None"
        assert re.search(NOT_THERE, run(session, READ.format("/etc/passwd")))
        assert REFUSED in run(session, "os.kill(os.getppid(), 9)")
        session.end()
        assert run(zygote.session({}), OWN_FILES) == "[]"


AS_USER = """
import os, sys
from autograder.runner import syscalls
from pathlib import Path
syscalls.unshare(syscalls.CLONE_NEWNS)
syscalls.mount("none", "/", "none", syscalls.MS_REC | syscalls.MS_PRIVATE)
base = os.path.realpath(sys.base_prefix)
held = os.open(base, os.O_PATH)
for folder in reversed(Path(base).parents):
    if not folder.stat().st_mode & 1:
        syscalls.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")
        os.makedirs(base)
        syscalls.mount(f"/proc/self/fd/{held}", base, "", syscalls.MS_BIND)
        break
home = sys.argv[1]
os.chown(home, 1234, 1234)
os.setgroups([])
os.setgid(1234)
os.setuid(1234)
os.environ.update(HOME=home, TMPDIR=home, PYTHONDONTWRITEBYTECODE="1")
os.environ.pop("XDG_CACHE_HOME", None)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_all_of_this_holds_for_a_user_without_rights():
    pytest_ = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    with tempfile.TemporaryDirectory() as home:  # pytest's own folders are closed to others
        command = [sys.executable, "-c", AS_USER, home, *pytest_]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert re.search(r"[1-9]\d+ passed", done.stdout)
