"""Writers whose server is killed, and the check of what they were told.

  firestore_crash.py write PROJECT        writes until the server is gone; a line for each acknowledged document
  firestore_crash.py check PROJECT FILE   reads the documents that FILE names, and all others
"""
import os
import sys
import threading

from google.cloud import firestore

THREADS = 8


def write(project):
    lock = threading.Lock()

    def work(part):
        db = firestore.Client(project=project)
        number = 0
        try:
            while True:
                batch = db.batch()
                batch.set(db.document(f"a/{part}-{number}"), {"n": number, "part": part})
                batch.set(db.document(f"b/{part}-{number}"), {"n": number, "part": part})
                batch.commit(timeout=5, retry=None)
                with lock:
                    print(f"{part}-{number}", flush=True)
                number += 1
        except Exception:
            pass

    threads = [threading.Thread(target=work, args=(part,), daemon=True) for part in range(THREADS)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    os._exit(0)


def check(project, path):
    db = firestore.Client(project=project)
    acknowledged = set(open(path).read().split())
    found = [{s.id: s.to_dict() for s in db.collection(name).stream()} for name in ["a", "b"]]
    lost = acknowledged - set(found[0])
    # What was not acknowledged is there as a whole or not at all.
    halves = set(found[0]) ^ set(found[1])
    wrong = [i for i, d in found[0].items() if i != f"{d['part']}-{d['n']}"]
    print(f"{len(acknowledged)} acknowledged, {len(found[0])} found, lost {lost}, halves {halves}, wrong {wrong}")
    os._exit(1 if lost or halves or wrong or not acknowledged else 0)


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](*sys.argv[2:])
