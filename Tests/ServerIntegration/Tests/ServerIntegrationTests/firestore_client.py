"""google-cloud-firestore, as it is, against a server: FIRESTORE_EMULATOR_HOST says where."""
import asyncio
import datetime
import math
import sys
import threading
import uuid

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter, Or
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.vector import Vector

from cases import equal, eventually, expect, raises, run


def client(project=None, database=None):
    return firestore.Client(project=project or f"p-{uuid.uuid4().hex[:8]}", database=database)


def case_documents_are_set_read_updated_and_deleted():
    db = client()
    ada = db.collection("people").document("ada")
    expect(not ada.get().exists)
    result = ada.set({"name": "Ada", "age": 36, "tags": ["a"]})
    snapshot = ada.get()
    equal(snapshot.to_dict(), {"name": "Ada", "age": 36, "tags": ["a"]})
    equal(snapshot.update_time, result.update_time)
    equal(snapshot.create_time, snapshot.update_time)
    ada.update({"age": 37, "address.city": "London"})
    equal(ada.get().to_dict(), {"name": "Ada", "age": 37, "tags": ["a"], "address": {"city": "London"}})
    equal(ada.get(["name"]).to_dict(), {"name": "Ada"})
    ada.delete()
    expect(not ada.get().exists)
    ada.delete()


def case_every_kind_of_value_comes_back():
    db = client()
    document = db.document("a/b")
    values = {
        "null": None, "true": True, "false": False, "zero": 0, "large": 2**63 - 1, "small": -(2**63), "double": 1.5,
        "infinity": math.inf, "text": "é😀\x00", "empty": "", "bytes": b"\x00\xff", "none": b"",
        "time": datetime.datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=datetime.timezone.utc),
        "place": firestore.GeoPoint(-12.5, 45), "other": db.document("c/d"), "list": [1, "a", None, {"b": []}],
        "map": {"a": {"b": {}}, "`quoted`.name": 1}, "vector": Vector([1.0, -2.5]),
    }
    document.set(values)
    got = document.get().to_dict()
    equal(set(got), set(values))
    for name, value in values.items():
        equal(got[name], value)
    document.set({"nan": math.nan})
    expect(math.isnan(document.get().to_dict()["nan"]))
    db.document("a/empty").set({})
    equal(db.document("a/empty").get().to_dict(), {})


def case_merges_and_field_paths():
    db = client()
    document = db.document("a/b")
    document.set({"x": {"y": 1, "z": 2}, "w": 3})
    document.set({"x": {"y": 9}}, merge=True)
    equal(document.get().to_dict(), {"x": {"y": 9, "z": 2}, "w": 3})
    document.set({"x": {"y": 1}, "w": 7}, merge=["x.y"])
    equal(document.get().to_dict(), {"x": {"y": 1, "z": 2}, "w": 3})
    document.update({"x.z": firestore.DELETE_FIELD, db.field_path("a.b", "c d"): 5})
    equal(document.get().to_dict(), {"x": {"y": 1}, "w": 3, "a.b": {"c d": 5}})


def case_transforms():
    db = client()
    document = db.document("a/b")
    document.set({"n": 1, "list": [1, 2], "max": 5, "min": 5})
    document.update({
        "n": firestore.Increment(4), "list": firestore.ArrayUnion([2, 3]), "max": firestore.Maximum(9),
        "min": firestore.Minimum(2), "at": firestore.SERVER_TIMESTAMP,
    })
    got = document.get().to_dict()
    at = got.pop("at")
    equal(got, {"n": 5, "list": [1, 2, 3], "max": 9, "min": 2})
    expect(isinstance(at, datetime.datetime))
    document.update({"list": firestore.ArrayRemove([1, 3]), "n": firestore.Increment(0.5)})
    equal(document.get().to_dict()["list"], [2])
    equal(document.get().to_dict()["n"], 5.5)


def case_preconditions_and_errors_have_their_codes():
    db = client()
    document = db.document("a/b")
    document.create({"x": 1})
    raises(exceptions.AlreadyExists, lambda: document.create({"x": 2}))
    raises(exceptions.NotFound, lambda: db.document("a/none").update({"x": 1}))
    old = document.get().update_time
    document.set({"x": 2})
    raises(exceptions.FailedPrecondition, lambda: document.update({"x": 3}, db.write_option(last_update_time=old)))
    document.delete(db.write_option(last_update_time=document.get().update_time))
    raises(exceptions.InvalidArgument, lambda: db.document("a/__reserved__").set({"x": 1}))
    raises(exceptions.InvalidArgument, lambda: db.document("a/large").set({"x": "a" * (1 << 20)}))
    db.document("a/large").set({"x": "a" * ((1 << 20) - 200)})
    equal(len(db.document("a/large").get().to_dict()["x"]), (1 << 20) - 200)


def case_batches_are_all_or_nothing():
    db = client()
    batch = db.batch()
    for number in range(100):
        batch.set(db.document(f"a/{number}"), {"n": number})
    equal(len(batch.commit()), 100)
    batch = db.batch()
    batch.set(db.document("a/new"), {"n": 1})
    batch.update(db.document("a/none"), {"n": 1})
    raises(exceptions.NotFound, batch.commit)
    expect(not db.document("a/new").get().exists)
    found = {s.id: s.exists for s in db.get_all([db.document("a/1"), db.document("a/none"), db.document("a/2")])}
    equal(found, {"1": True, "none": False, "2": True})


def case_bulk_writers_write():
    db = client()
    writer = db.bulk_writer()
    for number in range(60):
        writer.set(db.document(f"a/{number}"), {"n": number})
    writer.create(db.document("a/extra"), {"n": -1})
    writer.close()
    equal(len(list(db.collection("a").stream())), 61)


def cities(db):
    data = [
        ("sf", "California", 860, True, ["west"]), ("la", "California", 3900, False, ["west", "south"]),
        ("dc", "Columbia", 680, True, ["east"]), ("tok", None, 9000, True, ["kanto"]), ("bj", None, 21500, True, ["hebei"]),
    ]
    for name, state, size, capital, regions in data:
        document = {"name": name, "size": size, "capital": capital, "regions": regions}
        if state:
            document["state"] = state
        db.document(f"cities/{name}").set(document)
    return db.collection("cities")


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


def case_queries():
    db = client()
    all_cities = cities(db)
    equal(ids(all_cities), ["bj", "dc", "la", "sf", "tok"])
    equal(ids(all_cities.order_by("size")), ["dc", "sf", "la", "tok", "bj"])
    equal(ids(all_cities.order_by("size", direction="DESCENDING").limit(2)), ["bj", "tok"])
    equal([s.id for s in all_cities.order_by("size").limit_to_last(2).get()], ["tok", "bj"])
    equal(ids(all_cities.order_by("size").offset(3)), ["tok", "bj"])
    equal(ids(all_cities.where(filter=FieldFilter("state", "==", "California"))), ["la", "sf"])
    equal(ids(all_cities.where(filter=FieldFilter("size", ">", 1000)).order_by("size")), ["la", "tok", "bj"])
    equal(ids(all_cities.where(filter=FieldFilter("regions", "array_contains", "west"))), ["la", "sf"])
    equal(ids(all_cities.where(filter=FieldFilter("regions", "array_contains_any", ["east", "kanto"]))), ["dc", "tok"])
    equal(ids(all_cities.where(filter=FieldFilter("name", "in", ["sf", "bj"]))), ["bj", "sf"])
    equal(ids(all_cities.where(filter=FieldFilter("state", "!=", "California"))), ["dc"])
    equal(ids(all_cities.where(filter=FieldFilter("name", "not-in", ["sf", "la", "dc"]))), ["bj", "tok"])
    either = Or([FieldFilter("size", "<", 700), FieldFilter("name", "==", "bj")])
    equal(sorted(ids(all_cities.where(filter=either))), ["bj", "dc"])
    by_size = all_cities.order_by("size")
    equal(ids(by_size.start_at({"size": 3900}).end_before({"size": 21500})), ["la", "tok"])
    equal(ids(by_size.start_after(db.document("cities/la").get())), ["tok", "bj"])
    equal([s.to_dict() for s in all_cities.select(["name"]).limit(1).stream()], [{"name": "bj"}])
    equal(ids(db.collection("nothing")), [])


def case_collection_groups():
    db = client()
    for path in ["a/1/items/x", "b/2/items/y", "b/2/c/3/items/z", "items/top", "a/1/other/w"]:
        db.document(path).set({"path": path, "n": len(path)})
    equal(sorted(ids(db.collection_group("items"))), ["top", "x", "y", "z"])
    equal(ids(db.collection_group("items").where(filter=FieldFilter("path", "==", "b/2/items/y"))), ["y"])


def case_aggregations():
    db = client()
    all_cities = cities(db)
    equal(all_cities.count().get()[0][0].value, 5)
    query = all_cities.where(filter=FieldFilter("size", "<", 5000))
    got = {r.alias: r.value for r in query.count("n").sum("size", "sum").avg("size", "avg").get()[0]}
    equal(got["n"], 3)
    equal(got["sum"], 860 + 3900 + 680)
    expect(abs(got["avg"] - (860 + 3900 + 680) / 3) < 1e-9)
    equal(db.collection("nothing").count().get()[0][0].value, 0)


def case_nearest_vectors():
    db = client()
    for name, vector in [("a", [0.0, 0.0]), ("b", [1.0, 1.0]), ("c", [5.0, 5.0])]:
        db.document(f"v/{name}").set({"at": Vector(vector)})
    query = db.collection("v").find_nearest(
        "at", query_vector=Vector([0.9, 0.9]), distance_measure=DistanceMeasure.EUCLIDEAN, limit=2)
    equal(ids(query), ["b", "a"])


def case_transactions():
    db = client()
    counter = db.document("a/counter")
    counter.set({"n": 0})

    @firestore.transactional
    def add(transaction, amount):
        n = counter.get(transaction=transaction).get("n")
        transaction.update(counter, {"n": n + amount})
        return n

    equal(add(db.transaction(), 5), 0)
    equal(counter.get().get("n"), 5)
    failures = []

    def work():
        try:
            for _ in range(5):
                add(db.transaction(max_attempts=50), 1)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    equal(failures, [])
    equal(counter.get().get("n"), 25)

    class Refusal(Exception):
        pass

    @firestore.transactional
    def refuse(transaction):
        counter.get(transaction=transaction)
        transaction.update(counter, {"n": -1})
        raise Refusal()

    raises(Refusal, lambda: refuse(db.transaction()))
    equal(counter.get().get("n"), 25)

    @firestore.transactional
    def read(transaction):
        found = [s.id for s in db.collection("a").where(filter=FieldFilter("n", ">", 0)).stream(transaction=transaction)]
        return found, counter.get(transaction=transaction).get("n")

    equal(read(db.transaction(read_only=True)), (["counter"], 25))


def case_listeners_of_documents():
    db = client()
    document = db.document("a/b")
    seen = []
    watch = document.on_snapshot(lambda snapshots, changes, time: seen.append([s.to_dict() for s in snapshots]))
    eventually(lambda: len(seen) == 1)
    document.set({"n": 1})
    eventually(lambda: seen[-1:] == [[{"n": 1}]])
    document.update({"n": 2})
    eventually(lambda: seen[-1:] == [[{"n": 2}]])
    document.delete()
    eventually(lambda: seen[-1:] in ([[]], [[None]]))
    watch.unsubscribe()


def case_listeners_of_queries():
    db = client()
    query = db.collection("a").where(filter=FieldFilter("n", ">", 1)).order_by("n")
    db.document("a/two").set({"n": 2})
    db.document("a/one").set({"n": 1})
    seen, kinds = [], []

    def note(snapshots, changes, time):
        seen.append([s.id for s in snapshots])
        kinds.extend((change.type.name, change.document.id) for change in changes)

    watch = query.on_snapshot(note)
    eventually(lambda: seen[-1:] == [["two"]])
    db.document("a/three").set({"n": 3})
    eventually(lambda: seen[-1:] == [["two", "three"]])
    db.document("a/one").update({"n": 4})
    eventually(lambda: seen[-1:] == [["two", "three", "one"]])
    db.document("a/two").update({"n": 5})
    eventually(lambda: seen[-1:] == [["three", "one", "two"]])
    db.document("a/three").delete()
    eventually(lambda: seen[-1:] == [["one", "two"]])
    db.document("a/one").update({"n": 0})
    eventually(lambda: seen[-1:] == [["two"]])
    equal(kinds[:2], [("ADDED", "two"), ("ADDED", "three")])
    expect(("MODIFIED", "two") in kinds and ("REMOVED", "three") in kinds and ("REMOVED", "one") in kinds, kinds)
    watch.unsubscribe()


def case_listeners_see_every_commit_of_others():
    db = client()
    seen = {}
    watch = db.collection_group("items").on_snapshot(
        lambda snapshots, changes, time: seen.update(count=len(snapshots)))
    eventually(lambda: seen.get("count") == 0)

    def write(part):
        other = client(db.project)
        for number in range(25):
            other.document(f"a/{part}/items/{number}").set({"n": number})

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    eventually(lambda: seen.get("count") == 100)
    watch.unsubscribe()


def case_listing():
    db = client()
    for path in ["a/1", "a/2", "b/1/sub/x", "b/1/deep/y"]:
        db.document(path).set({"path": path})
    equal(sorted(d.id for d in db.collection("a").list_documents(page_size=1)), ["1", "2"])
    # A document that is not there, with others below it.
    equal([d.id for d in db.collection("b").list_documents()], ["1"])
    equal(sorted(c.id for c in db.collections()), ["a", "b"])
    equal(sorted(c.id for c in db.document("b/1").collections()), ["deep", "sub"])


def case_partitions_and_deleting_everything():
    db = client()
    for number in range(200):
        db.document(f"a/{number % 7}/items/{number}").set({"n": number})
    group = db.collection_group("items")
    found = [s.id for part in group.get_partitions(4) for s in part.query().stream()]
    equal(len(found), 200)
    equal(len(set(found)), 200)
    db.recursive_delete(db.collection("a"))
    equal(ids(group), [])


def case_long_results_come_whole():
    db = client()
    for start in range(0, 1500, 500):
        batch = db.batch()
        for number in range(start, start + 500):
            batch.set(db.document(f"a/{number:05}"), {"n": number, "text": "x" * 1000})
        batch.commit()
    equal(ids(db.collection("a")), [f"{number:05}" for number in range(1500)])


def case_databases_and_projects_are_apart():
    name = f"p-{uuid.uuid4().hex[:8]}"
    one, two, three = client(name), client(name, "second"), client()
    for number, db in enumerate([one, two, three]):
        db.document("a/b").set({"n": number})
    equal([db.document("a/b").get().get("n") for db in [one, two, three]], [0, 1, 2])


def case_the_async_client():
    async def work():
        db = firestore.AsyncClient(project=f"p-{uuid.uuid4().hex[:8]}")
        await asyncio.gather(*(db.document(f"a/{n}").set({"n": n}) for n in range(64)))
        equal(len([s async for s in db.collection("a").where(filter=FieldFilter("n", "<", 32)).stream()]), 32)

        @firestore.async_transactional
        async def add(transaction):
            snapshot = await db.document("a/0").get(transaction=transaction)
            transaction.update(db.document("a/0"), {"n": snapshot.get("n") + 100})

        await add(db.transaction())
        equal((await db.document("a/0").get()).get("n"), 100)

    asyncio.run(work())


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
