"""The public calls of google-cloud-firestore, at the server of FIRESTORE_EMULATOR_HOST."""
import asyncio
import datetime
import math
import sys
import threading
import time
import uuid

from google.api_core import exceptions
from google.api_core.datetime_helpers import DatetimeWithNanoseconds
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.query_profile import ExplainOptions
from google.cloud.firestore_v1.vector import Vector

from cases import equal, eventually, expect, raises, run


def client(project=None):
    return firestore.Client(project=project or f"w-{uuid.uuid4().hex[:8]}")


def ids(query, **options):
    return [snapshot.id for snapshot in query.stream(**options)]


def where(query, *filters):
    for path, operator, value in filters:
        query = query.where(filter=FieldFilter(path, operator, value))
    return query


def filled(db, documents, collection="a"):
    batch = db.batch()
    for name, fields in documents.items():
        batch.set(db.document(f"{collection}/{name}"), fields)
    batch.commit()
    return db.collection(collection)


# Values


def case_values_come_back_to_the_last_bit():
    db = client()
    document = db.document("a/b")
    times = [
        DatetimeWithNanoseconds(2024, 2, 29, 12, 0, 0, nanosecond=123456000, tzinfo=datetime.timezone.utc),
        datetime.datetime(1, 1, 1, tzinfo=datetime.timezone.utc),
        datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=datetime.timezone.utc),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=datetime.timezone.utc),
        datetime.datetime(2024, 6, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ]
    values = {
        "times": times, "doubles": [5e-324, 1.7976931348623157e308, -math.inf, math.inf, 0.1, 1e15, 2.0**53],
        "integers": [0, -1, 2**63 - 1, -(2**63)], "bytes": [b"", bytes(range(256))],
        "texts": ["", "\x00", "😀", "é", "e\u0301", "\uffff", "a" * 2000], "places": [firestore.GeoPoint(90, -180), firestore.GeoPoint(-90, 180)],
        "references": [db.document("x/y"), db.document("x/y/z/w")], "nothing": None, "yes": [True, False],
        "maps": {"a.b": {"`": {"\\": {"*": {"🙂": 1}}}}, "empty": {}}, "lists": [1, {"a": [2, {"b": [None]}]}],
        "vectors": {"b": Vector([0.5, -1.5, 1e300])},
    }
    document.set(values)
    got = document.get().to_dict()
    for name in values:
        equal(got[name], values[name])
    document.set({"zero": -0.0, "nan": math.nan})
    got = document.get().to_dict()
    expect(math.copysign(1, got["zero"]) == -1 and math.isnan(got["nan"]), got)
    # Nanoseconds are cut to microseconds.
    document.set({"at": DatetimeWithNanoseconds(2024, 1, 1, nanosecond=123456789, tzinfo=datetime.timezone.utc)})
    equal(document.get().get("at").microsecond, 123456)


def case_snapshots_say_what_they_have():
    db = client()
    document = db.document("a/b/c/d")
    missing = document.get()
    equal((missing.exists, missing.to_dict(), missing.create_time, missing.id), (False, None, None, "d"))
    before = missing.read_time
    result = document.set({"x": {"y": [1]}, "a.b": 1})
    snapshot = document.get()
    equal((snapshot.create_time, snapshot.update_time), (result.update_time, result.update_time))
    expect(snapshot.read_time >= result.update_time > before)
    equal((snapshot.get("x.y"), snapshot.get("`a.b`"), snapshot.reference.path), ([1], 1, "a/b/c/d"))
    equal((document.parent.id, document.parent.parent.id, document.parent.parent.parent.id), ("c", "b", "a"))
    equal(document.get(["x.y"]).to_dict(), {"x": {"y": [1]}})
    equal(document.get(["none"]).to_dict(), {})
    document.update({"x.y": 2})
    later = document.get()
    expect(later.create_time == snapshot.create_time and later.update_time > snapshot.update_time)


def case_names_of_every_kind():
    db = client()
    names = ["a b", "ü😀", "a%2Fb", "a+b", "a?b&c=d#e", "'\"`\\", "..a", "_", "a" * 1500, "1", "a~b*[]"]
    for name in names:
        db.collection("names").document(name).set({"name": name})
    equal(sorted(one.id for one in db.collection("names").list_documents()), sorted(names))
    for name in names:
        equal(db.collection("names").document(name).get().get("name"), name)
    for name in [".", "..", "__a__", "a" * 1501]:
        raises(exceptions.InvalidArgument, lambda: db.collection("names").document(name).set({}))
    made = db.collection("names").add({"x": 1})
    equal((len(made[1].id), made[1].get().to_dict()), (20, {"x": 1}))


# Writes


def case_transforms_of_every_kind():
    db = client()
    document = db.document("a/b")
    document.set({"n": 1, "f": 1.5, "text": "x", "list": [1, 1.0, "a"], "deep": {"n": 1}})
    document.update({
        "n": firestore.Increment(2**62), "f": firestore.Increment(1), "text": firestore.Increment(7), "new": firestore.Increment(-1.5),
        "deep.n": firestore.Increment(2), "deep.at": firestore.SERVER_TIMESTAMP, "list": firestore.ArrayUnion([1, "b", {"c": 1}]),
        "made": firestore.ArrayUnion([2, 2]), "none": firestore.ArrayRemove([1])})
    got = document.get()
    equal((got.get("n"), got.get("f"), got.get("text"), got.get("new"), got.get("deep.n")), (2**62 + 1, 2.5, 7, -1.5, 3))
    equal((got.get("list"), got.get("made"), got.get("none")), ([1, 1.0, "a", "b", {"c": 1}], [2], []))
    expect(abs((got.get("deep.at") - got.update_time).total_seconds()) < 1)
    document.update({"n": firestore.Increment(2**62), "list": firestore.ArrayRemove([1, {"c": 1}]),
                     "f": firestore.Maximum(2), "text": firestore.Minimum(7.5), "x": firestore.Maximum(-1)})
    got = document.get()
    # A sum beyond the largest integer stays at it.
    equal((got.get("n"), got.get("list")), (2**63 - 1, ["a", "b"]))
    equal((got.get("f"), got.get("text"), got.get("x")), (2.5, 7, -1))
    document.set({"at": firestore.SERVER_TIMESTAMP, "list": firestore.ArrayUnion([1])}, merge=True)
    equal(document.get().get("list"), ["a", "b", 1])
    document.set({"at": firestore.SERVER_TIMESTAMP})
    equal(list(document.get().to_dict()), ["at"])


def case_merges_preconditions_and_batches():
    db = client()
    document = db.document("a/b")
    raises(exceptions.NotFound, lambda: document.update({"x": 1}))
    document.create({"a": {"b": 1, "c": 2}, "d": 3})
    raises(exceptions.AlreadyExists, lambda: document.create({}))
    document.set({"a": {"b": firestore.DELETE_FIELD, "e": 4}}, merge=True)
    equal(document.get().to_dict(), {"a": {"c": 2, "e": 4}, "d": 3})
    document.set({"a": {"e": 5}, "d": 9}, merge=["a.e"])
    equal(document.get().to_dict(), {"a": {"c": 2, "e": 5}, "d": 3})
    document.set({"a": {}}, merge=["a"])
    equal(document.get().to_dict(), {"a": {}, "d": 3})
    time_ = document.get().update_time
    document.update({"d": 4}, option=db.write_option(last_update_time=time_))
    for call in [lambda: document.update({"d": 5}, option=db.write_option(last_update_time=time_)),
                 lambda: document.delete(option=db.write_option(last_update_time=time_))]:
        raises(exceptions.FailedPrecondition, call)
    raises(exceptions.NotFound, lambda: db.document("a/none").delete(option=db.write_option(exists=True)))
    db.document("a/none").delete()
    batch = db.batch()
    batch.set(db.document("a/1"), {"x": 1})
    batch.create(db.document("a/2"), {"x": 2})
    batch.update(db.document("a/1"), {"y": firestore.Increment(1)})
    batch.delete(document)
    results = batch.commit()
    equal((len(results), db.document("a/1").get().to_dict(), document.get().exists), (4, {"x": 1, "y": 1}, False))
    with db.batch() as batch:
        batch.set(db.document("a/3"), {})
    equal(db.document("a/3").get().exists, True)
    refused = db.batch()
    refused.set(db.document("a/4"), {})
    refused.create(db.document("a/1"), {})
    raises(exceptions.AlreadyExists, refused.commit)
    equal(db.document("a/4").get().exists, False)
    large = db.batch()
    for number in range(501):
        large.set(db.document(f"many/{number}"), {"n": number})
    equal(len(large.commit()), 501)


def case_bulk_writers_report_each_write():
    db = client()
    db.document("a/there").set({"x": 1})
    done, failed = [], []
    writer = db.bulk_writer()
    writer.on_write_result(lambda reference, result, _: done.append(reference.id))
    writer.on_write_error(lambda failure, _: failed.append((failure.operation.reference.id, failure.code)) or False)
    for number in range(45):
        writer.set(db.document(f"a/{number}"), {"n": number})
    writer.create(db.document("a/there"), {})
    writer.update(db.document("a/missing"), {"x": 1})
    writer.update(db.document("a/0"), {"m": 1})
    writer.delete(db.document("a/1"))
    writer.flush()
    writer.close()
    equal((sorted(failed), len(done)), ([("missing", 5), ("there", 6)], 47))
    equal((db.document("a/0").get().to_dict(), db.document("a/1").get().exists), ({"n": 0, "m": 1}, False))


def case_limits_are_refused_by_their_errors():
    db = client()
    document = db.document("a/b")
    deep = {}
    for _ in range(25):
        deep = {"x": deep}
    for fields in [{"x": "a" * (1 << 20)}, {"__x__": 1}, {"x": deep}, {"x": Vector([0.0] * 2049)}, {"x": Vector([])}]:
        raises(exceptions.InvalidArgument, lambda: document.set(fields))
    raises((exceptions.InvalidArgument, ValueError), lambda: document.set({"": 1}))
    raises(exceptions.InvalidArgument, lambda: document.set({"x": [[1]]}))
    raises(exceptions.InvalidArgument, lambda: ids(where(db.collection("a"), ("x", "in", list(range(31))))))
    raises(exceptions.InvalidArgument, lambda: ids(where(db.collection("a"), ("x", "not-in", list(range(11))))))
    raises(exceptions.InvalidArgument, lambda: ids(where(db.collection("a"), ("x", "!=", 1), ("x", "not-in", [2]))))
    raises(exceptions.InvalidArgument, lambda: ids(db.collection("a").limit(-1)))
    raises(exceptions.InvalidArgument, lambda: ids(db.collection("a").offset(-1)))
    equal(document.get().exists, False)


# Queries


def case_every_operator_and_its_order_of_types():
    db = client()
    values = {
        "null": None, "false": False, "true": True, "nan": math.nan, "low": -math.inf, "int": 1, "double": 1.5, "time":
        datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc), "text": "a", "text2": "b", "bytes": b"a", "ref": db.document("a/int"),
        "place": firestore.GeoPoint(1, 2), "list": [1, 2], "vector": Vector([1.0]), "map": {"a": 1}}
    a = filled(db, {name: {"v": value} for name, value in values.items()} | {"none": {"w": 1}})
    order = ["null", "false", "true", "nan", "low", "int", "double", "time", "text", "text2", "bytes", "ref", "place", "list", "vector", "map"]
    equal(ids(a.order_by("v")), order)
    equal(ids(a.order_by("v", direction=firestore.Query.DESCENDING)), order[::-1])
    for operator, value, expected in [
        ("==", 1, ["int"]), ("==", 1.0, ["int"]), ("==", None, ["null"]), ("==", math.nan, ["nan"]), ("==", [1, 2], ["list"]),
        ("==", {"a": 1}, ["map"]), ("==", Vector([1.0]), ["vector"]), ("==", db.document("a/int"), ["ref"]),
        ("<", 1.5, ["low", "int"]), ("<=", 1.5, ["low", "int", "double"]), (">", "a", ["text2"]), (">=", "a", ["text", "text2"]),
        (">", True, []), (">=", b"", ["bytes"]), ("<", [1, 3], ["list"]), ("array_contains", 2, ["list"]),
        ("array_contains_any", [2, "x"], ["list"]), ("in", [1, "a", None, True], ["true", "int", "text"]),
        ("!=", None, [name for name in order if name != "null"]),
        ("!=", math.nan, [name for name in order if name not in ["null", "nan"]]),
        ("not-in", [1, "a"], [name for name in order if name not in ["null", "int", "text"]]), ("not-in", [None], []),
    ]:
        try:
            equal(sorted(ids(where(a, ("v", operator, value)))), sorted(expected))
        except Exception as error:
            raise AssertionError(f"{operator} {value}: {error}")


def case_compound_filters():
    db = client()
    a = filled(db, {f"{x}{y}": {"x": x, "y": y, "tags": [x, y], "deep": {"z": x * y}} for x in range(4) for y in range(4)})
    equal(ids(where(a, ("x", "==", 1), ("y", ">=", 2))), ["12", "13"])
    equal(ids(where(a, ("x", ">", 1), ("y", "<", 1))), ["20", "30"])
    equal(ids(where(a, ("deep.z", ">=", 6)).order_by("deep.z")), ["23", "32", "33"])
    either = Or([FieldFilter("x", "==", 0), And([FieldFilter("y", "==", 3), FieldFilter("x", ">", 2)])])
    equal(sorted(ids(a.where(filter=either))), ["00", "01", "02", "03", "33"])
    nested = And([Or([FieldFilter("x", "==", 1), FieldFilter("y", "==", 1)]), FieldFilter("tags", "array_contains", 2)])
    equal(sorted(ids(a.where(filter=nested))), ["12", "21"])
    equal(sorted(ids(where(a, ("x", "in", [0, 3]), ("y", "in", [0, 3])))), ["00", "03", "30", "33"])
    equal(ids(where(a, ("x", "not-in", [0, 1, 2]), ("y", "==", 0))), ["30"])
    name = firestore.Query.document_id if hasattr(firestore.Query, "document_id") else "__name__"
    equal(ids(where(a, (name, ">=", a.document("32")))), ["32", "33"])
    equal(ids(where(a, (name, "in", [a.document("11"), a.document("no")]))), ["11"])
    raises(exceptions.InvalidArgument, lambda: ids(where(a, (name, "==", "a/b"))))


def case_orders_cursors_limits_offsets_and_projections():
    db = client()
    a = filled(db, {f"d{n}": {"n": n // 2, "m": -n, "deep": {"k": n}} for n in range(8)})
    # A new query each time: the library turns the orders of one that was read with `limit_to_last`.
    def ordered():
        return a.order_by("n").order_by("m")

    by = ordered()
    equal(ids(by), ["d1", "d0", "d3", "d2", "d5", "d4", "d7", "d6"])
    equal(ids(by.start_at({"n": 1, "m": -3}).end_at({"n": 2, "m": -5})), ["d3", "d2", "d5"])
    equal(ids(by.start_after({"n": 1}).end_before({"n": 3})), ["d5", "d4"])
    equal(ids(by.start_at([1])), ["d3", "d2", "d5", "d4", "d7", "d6"])
    equal(ids(by.start_after(a.document("d2").get()).limit(2)), ["d5", "d4"])
    equal(ids(by.end_before(a.document("d3").get())), ["d1", "d0"])
    equal([one.id for one in ordered().limit_to_last(3).get()], ["d4", "d7", "d6"])
    equal(ids(by.offset(3).limit(2)), ["d2", "d5"])
    equal(ids(by.offset(100)), [])
    equal(ids(a.order_by("n", direction="DESCENDING").limit(3)), ["d7", "d6", "d5"])
    equal(ids(a.order_by("__name__", direction="DESCENDING").limit(2)), ["d7", "d6"])
    equal(ids(a.order_by("__name__").start_at({"__name__": "d5"})), ["d5", "d6", "d7"])
    equal(ids(a.start_after(a.document("d6").get())), ["d7"])
    first = next(iter(a.select(["n", "deep.k"]).limit(1).stream()))
    equal((first.to_dict(), first.exists), ({"n": 0, "deep": {"k": 0}}, True))
    equal([one.to_dict() for one in a.select([]).limit(1).stream()], [{}])
    equal(ids(a.order_by("missing")), [])
    chunks = a.order_by("n").limit(7)._chunkify(3)
    equal([len(chunk) for chunk in chunks], [3, 3, 1])


def case_groups_of_collections():
    db = client()
    for path in ["items/top", "a/1/items/x", "a/1/items/x/items/deep", "b/2/c/3/items/z", "a/1/itemsx/no"]:
        db.document(path).set({"n": len(path), "path": path})
    group = db.collection_group("items")
    equal(ids(group), ["x", "deep", "z", "top"])
    equal(ids(group.order_by("n")), ["top", "x", "z", "deep"])
    equal(ids(where(group, ("path", ">=", "b")).order_by("path")), ["z", "top"])
    equal(ids(group.start_at(db.document("b/2/c/3/items/z").get())), ["z", "top"])
    equal(ids(db.document("a/1").collection("items")), ["x"])
    equal(group.count().get()[0][0].value, 4)


def case_aggregations_of_every_kind():
    db = client()
    a = filled(db, {"a": {"n": 1}, "b": {"n": 2.5}, "c": {"n": "text"}, "d": {"n": None}, "e": {"m": 7}, "f": {"n": 2**62}})
    query = a.count("all").sum("n", "sum").avg("n", "average")
    got = {one.alias: one.value for one in query.get()[0]}
    # Several aggregations count the documents that have all of their fields.
    equal((got["all"], a.count().get()[0][0].value), (5, 6))
    equal((got["sum"], got["average"]), (3.5 + 2.0**62, (3.5 + 2.0**62) / 3))
    equal([one.value for one in where(a, ("n", "<", 3)).sum("n", "s").get()[0]], [3.5])
    equal([one.value for one in where(a, ("n", "==", 1)).sum("n", "s").get()[0]], [1])
    empty = {one.alias: one.value for one in where(a, ("n", "==", 9)).count("c").sum("n", "s").avg("n", "a").get()[0]}
    # The library has no null: the average of nothing is zero.
    equal(empty, {"c": 0, "s": 0, "a": 0})
    equal(a.limit(2).count().get()[0][0].value, 2)
    equal(a.offset(4).count().get()[0][0].value, 2)
    result = next(iter(a.count(alias="x").stream()))
    equal((result[0].alias, result[0].value), ("x", 6))
    expect(result[0].read_time is not None)
    raises(exceptions.InvalidArgument, lambda: a.count("c").count("c").get())


def case_neighbours_of_vectors():
    db = client()
    v = filled(db, {name: {"at": Vector(at), "color": color} for name, at, color in [
        ("a", [0.0, 1.0], "red"), ("b", [1.0, 0.0], "red"), ("c", [3.0, 3.0], "blue"), ("d", [1.0, 2.0, 3.0], "red")]} | {"e": {}}, "v")
    for measure, target, expected in [
        (DistanceMeasure.EUCLIDEAN, [0.9, 0.1], [("b", math.sqrt(0.02)), ("a", math.sqrt(1.62)), ("c", math.sqrt(12.82))]),
        (DistanceMeasure.COSINE, [1.0, 1.0], [("c", 0.0), ("a", 1 - math.sqrt(0.5)), ("b", 1 - math.sqrt(0.5))]),
        (DistanceMeasure.DOT_PRODUCT, [1.0, 2.0], [("c", 9.0), ("a", 2.0), ("b", 1.0)]),
    ]:
        query = v.find_nearest("at", Vector(target), 5, measure, distance_result_field="distance")
        found = [(one.id, one.get("distance")) for one in query.stream()]
        equal([name for name, _ in found], [name for name, _ in expected])
        expect(all(math.isclose(left[1], right[1], abs_tol=1e-9) for left, right in zip(found, expected)), found)
    near = v.find_nearest("at", Vector([1.0, 0.0]), 5, DistanceMeasure.EUCLIDEAN, distance_threshold=1.5)
    equal(ids(near), ["b", "a"])
    equal(ids(where(v, ("color", "==", "blue")).find_nearest("at", Vector([1.0, 0.0]), 1, DistanceMeasure.EUCLIDEAN)), ["c"])
    equal([one.id for one in v.find_nearest("at", Vector([1.0, 0.0]), 1, DistanceMeasure.EUCLIDEAN).get()], ["b"])
    raises(exceptions.InvalidArgument, lambda: ids(v.find_nearest("at", Vector([1.0]), 1001, DistanceMeasure.EUCLIDEAN)))


def case_explanations():
    db = client()
    a = filled(db, {f"{n}": {"n": n} for n in range(10)})
    results = where(a, ("n", "<", 3)).get(explain_options=ExplainOptions(analyze=True))
    equal(len(list(results)), 3)
    metrics = results.get_explain_metrics()
    equal(metrics.execution_stats.results_returned, 3)
    expect(metrics.execution_stats.read_operations >= 3, metrics)
    planned = a.order_by("n").stream(explain_options=ExplainOptions(analyze=False))
    equal(list(planned), [])
    expect(planned.get_explain_metrics().plan_summary.indexes_used)
    counted = a.count("c").get(explain_options=ExplainOptions(analyze=True))
    equal([one.value for one in list(counted)[0]], [10])
    equal(counted.get_explain_metrics().execution_stats.results_returned, 1)


# Reads at a time, transactions


def case_reads_at_a_time():
    db = client()
    document = db.document("a/b")
    document.set({"n": 1})
    at = document.get().read_time
    document.set({"n": 2})
    equal(document.get(read_time=at).get("n"), 1)
    equal([one.get("n") for one in db.get_all([document], read_time=at)], [1])
    equal([one.get("n") for one in db.collection("a").stream(read_time=at)], [1])
    equal(db.collection("a").count().get(read_time=at)[0][0].value, 1)
    db.document("b/c").set({})
    equal([one.id for one in db.collections(read_time=at)], ["a"])
    equal([one.id for one in db.collection("b").list_documents(read_time=at)], [])
    transaction = db.transaction(read_only=True)
    equal(firestore.transactional(lambda one: document.get(transaction=one).get("n"))(transaction), 2)
    raises((exceptions.InvalidArgument, exceptions.FailedPrecondition),
           lambda: document.get(read_time=datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)))


def case_transactions_of_every_kind():
    db = client()
    document = db.document("a/b")
    document.set({"n": 0})
    attempts = []

    @firestore.transactional
    def raced(transaction):
        n = document.get(transaction=transaction).get("n")
        query = [one.id for one in db.collection("a").stream(transaction=transaction)]
        all_ = [one.exists for one in transaction.get_all([document, db.document("a/none")])]
        counted = db.collection("a").count().get(transaction=transaction)[0][0].value
        attempts.append(n)
        transaction.set(db.document("a/set"), {"n": n})
        transaction.update(document, {"n": n + 1})
        transaction.delete(db.document("a/none"))
        return query, sorted(all_), counted

    equal(raced(db.transaction()), (["b"], [False, True], 1))
    equal((attempts, document.get().get("n")), ([0], 1))

    @firestore.transactional
    def reads(transaction):
        transaction.set(document, {})

    raises((ValueError, exceptions.InvalidArgument), lambda: reads(db.transaction(read_only=True)))
    counts = []

    @firestore.transactional
    def conflicts(transaction):
        value = document.get(transaction=transaction).get("n")
        counts.append(value)
        if len(counts) == 1:
            # Another client takes the document first, or waits for this transaction's end.
            thread = threading.Thread(target=lambda: client(db.project).document("a/b").update({"n": 100}))
            thread.start()
            thread.join(0.5)
        transaction.update(document, {"m": value})

    conflicts(db.transaction(max_attempts=10))
    eventually(lambda: document.get().get("n") == 100)
    equal(document.get().get("m"), counts[-1])

    @firestore.transactional
    def fails(transaction):
        transaction.create(document, {})

    raises(exceptions.AlreadyExists, lambda: fails(db.transaction()))


# Listing, deleting, partitions


def case_listing_of_collections_and_documents():
    db = client()
    for path in ["a/1", "a/2/sub/x", "a/3/sub/y/deep/z", "b/1"]:
        db.document(path).set({"path": path})
    equal([one.id for one in db.collections()], ["a", "b"])
    equal([one.id for one in db.document("a/2").collections()], ["sub"])
    listed = list(db.collection("a").list_documents(page_size=1))
    equal([one.id for one in listed], ["1", "2", "3"])
    equal([one.get().exists for one in listed], [True, False, False])
    equal([one.id for one in db.collection("none").list_documents()], [])
    # The document counts, though it was missing.
    equal(db.recursive_delete(db.document("a/3")), 2)
    equal([one.id for one in db.collection("a").list_documents()], ["1", "2"])
    equal(db.recursive_delete(db.collection("a")), 2)
    equal([one.id for one in db.collections()], ["b"])


def case_partitions_hold_each_document_once():
    db = client()
    for start in range(0, 600, 200):
        batch = db.batch()
        for number in range(start, start + 200):
            batch.set(db.document(f"p/{number % 13}/items/{number:04}"), {"n": number})
        batch.commit()
    group = db.collection_group("items")
    for count in [1, 2, 7]:
        parts = list(group.get_partitions(count))
        expect(1 <= len(parts) <= count + 1, len(parts))
        found = [one.id for part in parts for one in part.query().stream()]
        equal((len(found), len(set(found))), (600, 600))
    raises(ValueError, lambda: list(where(group, ("n", ">", 1)).get_partitions(2)))


# Listeners


class Seen:
    """The snapshots and changes of a listener; their order and indexes are the library's work."""

    def __init__(self, target):
        self.snapshots, self.changes = [], []
        self.watch = target.on_snapshot(self.told)

    def told(self, snapshots, changes, _):
        self.changes += [(one.type.name, one.document.id) for one in changes if one.document]
        self.snapshots.append([one.id for one in snapshots])

    def wait(self, expected):
        eventually(lambda: self.snapshots[-1:] and sorted(self.snapshots[-1]) == sorted(expected))


def case_listeners_follow_documents_queries_and_groups():
    db = client()
    document, query, group = db.document("a/1"), where(db.collection("a"), ("n", ">", 0)).order_by("n"), db.collection_group("sub")
    watches = [Seen(document), Seen(query), Seen(group)]
    watches[1].wait([])
    watches[2].wait([])
    document.set({"n": 2})
    watches[1].wait(["1"])
    eventually(lambda: watches[0].snapshots[-1:] == [["1"]])
    db.document("a/2").set({"n": 1})
    watches[1].wait(["2", "1"])
    db.document("a/2").update({"n": 3})
    # The order has changed: a snapshot of two changes would have them in another order than two snapshots.
    eventually(lambda: watches[1].snapshots[-1:] == [["1", "2"]])
    document.update({"n": -1})
    watches[1].wait(["2"])
    db.document("a/2/sub/x").set({})
    db.document("a/none/sub/y").set({})
    watches[2].wait(["x", "y"])
    db.document("a/2/sub/x").delete()
    watches[2].wait(["y"])
    document.delete()
    equal(watches[1].changes[:3], [("ADDED", "1"), ("ADDED", "2"), ("MODIFIED", "2")])
    expect(("REMOVED", "1") in watches[1].changes, watches[1].changes)
    for seen in watches:
        seen.watch.unsubscribe()
    count = len(watches[1].snapshots)
    db.document("a/9").set({"n": 9})
    equal(document.get().exists, False)
    equal(len(watches[1].snapshots), count)


def case_a_listener_sees_limits_and_full_documents():
    db = client()
    a = filled(db, {f"{n}": {"n": n} for n in range(5)})
    top = Seen(a.order_by("n", direction="DESCENDING").limit(2))
    top.wait(["4", "3"])
    db.document("a/9").set({"n": 9})
    top.wait(["9", "4"])
    db.document("a/9").delete()
    top.wait(["4", "3"])
    top.watch.unsubscribe()


# The asynchronous client


def case_the_asynchronous_client():
    async def walk():
        db = firestore.AsyncClient(project=f"w-{uuid.uuid4().hex[:8]}")
        a = db.collection("a")
        await asyncio.gather(*(a.document(f"{n}").set({"n": n}) for n in range(20)))
        equal([one.id async for one in where(a, ("n", "<", 3)).stream()], ["0", "1", "2"])
        equal([one.id for one in await a.order_by("n").limit_to_last(2).get()], ["18", "19"])
        got = {one.alias: one.value for one in (await a.count("c").sum("n", "s").avg("n", "a").get())[0]}
        equal(got, {"c": 20, "s": 190, "a": 9.5})
        equal(sorted([one.exists async for one in db.get_all([a.document("1"), a.document("x")])]), [False, True])
        equal([one.id async for one in db.collections()], ["a"])
        equal(len([one async for one in a.list_documents(page_size=7)]), 20)
        batch = db.batch()
        batch.delete(a.document("0"))
        batch.update(a.document("1"), {"n": firestore.Increment(100)})
        equal(len(await batch.commit()), 2)
        _, made = await a.add({"n": -5})
        equal((await made.get()).get("n"), -5)
        try:
            await a.document("1").create({})
            raise AssertionError("it was created twice")
        except exceptions.AlreadyExists:
            pass

        @firestore.async_transactional
        async def move(transaction):
            n = (await a.document("1").get(transaction=transaction)).get("n")
            transaction.set(a.document("moved"), {"n": n})
            transaction.delete(a.document("1"))
            return n

        equal(await move(db.transaction()), 101)
        equal([one.exists for one in [await a.document("1").get(), await a.document("moved").get()]], [False, True])
        await db.document("v/1").set({"at": Vector([1.0])})
        near = db.collection("v").find_nearest("at", Vector([1.0]), 1, DistanceMeasure.EUCLIDEAN)
        equal([one.id async for one in near.stream()], ["1"])
        group = db.collection_group("a")
        parts = [one async for one in group.get_partitions(3)]
        equal(sum([len([one async for one in part.query().stream()]) for part in parts]), 20)
        equal(await db.recursive_delete(a), 20)
        equal([one.id async for one in a.stream()], [])
        db.close()

    asyncio.run(walk())


if __name__ == "__main__":
    run(sys.modules[__name__], sys.argv[1:])
