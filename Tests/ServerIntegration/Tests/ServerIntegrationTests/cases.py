"""Runs the functions of a module whose names begin with case_, and says of each whether it passed."""
import sys
import time
import traceback


def run(module, names):
    failed = 0
    cases = [name for name in vars(module) if name.startswith("case_")]
    for name in cases:
        if names and name not in names:
            continue
        start = time.monotonic()
        try:
            getattr(module, name)()
            print(f"passed {name} ({time.monotonic() - start:.1f} s)", flush=True)
        except BaseException:
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    # Threads of listeners that hang would keep the process.
    sys.stdout.flush()
    import os
    os._exit(1 if failed else 0)


def expect(condition, message=""):
    if not condition:
        raise AssertionError(message)


def equal(left, right):
    if left != right:
        raise AssertionError(f"{left!r} is not {right!r}")


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind} was raised")


def eventually(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come true in time")
        time.sleep(0.02)
