"""What surrounds the calls: forks, signals, the interpreter's end, objects closed in use."""
import os
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import ipt
from test_ipt import make

HEAD = "import numpy, ipt\n"


def run(text, *arguments):
    done = subprocess.run([sys.executable, *arguments, "-c", HEAD + text], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_children_by_fork_are_told():
    text = """
import multiprocessing, os, sys, time
a = numpy.arange(20.0).reshape(4, 5)
plan, kept = ipt.Plan((4, 5), 8), ipt.transpose_(a)
def child(queue=None):
    words = []
    for call in (lambda: ipt.transpose_(kept), lambda: plan.execute(a), plan.describe, lambda: plan.workspace, ipt.Context,
                 lambda: ipt.Plan((7, 8), 4), lambda: ipt.batch("getri", A=numpy.eye(3))):
        try:
            call()
            words.append("no error")
        except RuntimeError as error:
            words.append("spawn" if "'spawn'" in str(error) else str(error))
    plan.close()
    if queue:
        queue.put(words)
    return words
pid = os.fork()
if pid == 0:
    words = child()
    del plan, kept
    sys.exit(0 if words == ["spawn"] * 7 else 3)
for _ in range(600):
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        break
    time.sleep(0.1)
else:
    os.kill(pid, 9)
    sys.exit("the child does not end")
assert status == 0, status
fork = multiprocessing.get_context("fork")
queue = fork.Queue()
process = fork.Process(target=child, args=(queue,))
process.start()
assert queue.get(timeout=60) == ["spawn"] * 7
process.join(60)
assert process.exitcode == 0, process.exitcode
assert (ipt.transpose_(kept) == numpy.arange(20.0).reshape(4, 5)).all()  # the parent still works
"""
    status, out, errors = run(text)
    assert status == 0 and not errors, (out, errors)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_children_of_a_parent_that_has_not_used_ipt():
    text = """
import os, sys
pid = os.fork()
if pid == 0:
    sys.exit(0 if (ipt.transpose_(numpy.arange(6).reshape(2, 3)) == numpy.arange(6).reshape(2, 3).T).all() else 3)
assert os.waitpid(pid, 0)[1] == 0
ipt.transpose_(numpy.arange(6).reshape(2, 3))
"""
    status, out, errors = run(text)
    assert status == 0 and not errors, (out, errors)


ENDS = {
    "a plan and a context": "plan, context = ipt.Plan((30, 40), 4), ipt.Context()",
    "kept plans of a module that outlives the interpreter's dictionary":
        "import ctypes\nipt.transpose_(numpy.ones((3, 4)))\nplan = ipt.Plan((30, 40), 4)\n"
        "import sys\nfor name in [name for name in sys.modules if name.startswith('ipt')]:\n"
        "    ctypes.pythonapi.Py_IncRef(ctypes.py_object(sys.modules[name]))",
    "a cycle": "plan = ipt.Plan((30, 40), 4)\nplan.itself = [plan]\nimport builtins\nbuiltins.plan = plan",
    "a tensor and a batch": "t = ipt.Tensor(numpy.ones((3, 4)))\nb = ipt.batch('getri', A=numpy.eye(3))\nt2 = ipt.transpose_(t)",
    "a thread that works": "import threading, time\nplan = ipt.Plan((2000, 1500), 4)\ndata = bytearray(12000000)\nplan.execute(data)\n"
        "def work():\n    while True:\n        plan.execute(data)\n"
        "threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.2)",
    "torch": "try:\n    import torch\nexcept ImportError:\n    pass\nipt.transpose_(numpy.ones((3, 4)))\nplan = ipt.Plan((30, 40), 4)",
    "an exception": "plan = ipt.Plan((30, 40), 4)\nraise SystemExit(0)",
}


@pytest.mark.parametrize("kind", ENDS)
def test_ends_without_a_word(kind):
    status, out, errors = run(ENDS[kind])
    assert status == 0 and out == "" and errors == "", errors


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupts_are_raised():
    """8 of 8: at the first call of progress and at the last, when nothing is left to be ended."""
    plan = ipt.Plan((600, 700), 4, max_device_memory=2000000)
    seen = []
    plan.execute(make((600, 700)), progress=lambda done, total: seen.append(done))

    class Interrupted:
        """The signal is pending before the first line of progress runs."""
        def __init__(self, number):
            self.left = number

        def __call__(self, done, total):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGINT)

    former = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    for number in [1, 2, len(seen) - 1, len(seen)] * 2:
        with pytest.raises(KeyboardInterrupt):
            plan.execute(make((600, 700)), progress=Interrupted(max(1, number)))
    signal.signal(signal.SIGINT, former)
    a = make((600, 700))
    expected = a.T.copy()
    plan.execute(a)
    assert (a.reshape(700, 600) == expected).all()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupts_from_outside_are_raised():
    """The signal comes while C works, so Python sees it in the first line of the package's callback."""
    text = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
plan = ipt.Plan((600, 700), 4, max_device_memory=2000000)
a = numpy.zeros((600, 700), "f4")
raised = 0
for _ in range(8):
    try:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        while timer.is_alive():
            plan.execute(a, progress=lambda done, total: None)
    except KeyboardInterrupt:
        raised += 1
sys.exit(raised)
"""
    status, out, errors = run(text)
    assert status == 8 and not errors, (status, errors)


def test_exceptions_of_progress_end_the_work():
    plan = ipt.Plan((600, 700), 4, max_device_memory=2000000)
    calls = []

    def progress(done, total):
        calls.append(done)
        raise SystemExit("from progress")

    a = make((600, 700))
    before = a.copy()
    with pytest.raises(SystemExit, match="from progress") as caught:
        plan.execute(a, progress=progress)
    assert len(calls) == 1
    cause = caught.value.__cause__
    assert (a == before).all() if cause.kind.startswith("a callback requested") else "undefined" in cause.kind


def test_closing_while_threads_work():
    """A plan and its context live until the last call on them ends."""
    failures = []
    for _ in range(5):
        context = ipt.Context()
        plan = ipt.Plan((700, 500), 4, context=context)
        started = threading.Barrier(4)

        def work():
            data = make((700, 500))
            started.wait()
            try:
                for _ in range(50):
                    plan.execute(data)
            except ValueError as error:
                if "closed" not in str(error):
                    failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        started.wait()
        plan.close()
        context.close()
        for thread in threads:
            thread.join()
    assert not failures
    assert (ipt.transpose_(make((5, 6))) == make((5, 6)).T).all()
