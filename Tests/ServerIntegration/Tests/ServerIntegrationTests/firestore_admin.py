"""google-cloud-firestore-admin, as it is, over gRPC and REST, against a server."""
import os
import sys
import uuid

import grpc
import requests
from google.api_core import exceptions
from google.api_core.operations_v1 import OperationsClient
from google.auth import credentials
from google.cloud import firestore
from google.cloud import firestore_admin_v1 as admin
from google.cloud.firestore_admin_v1.services.firestore_admin import transports
from google.cloud.firestore_admin_v1.types import Database
from google.longrunning import operations_pb2

from cases import equal, expect, raises, run

HOST = os.environ["FIRESTORE_EMULATOR_HOST"]
OWNER = [("authorization", "Bearer owner")]
Order = admin.Index.IndexField.Order
Scope = admin.Index.QueryScope


class Owner(credentials.Credentials):
    """The owner's word, as clients of the suite send it."""

    def refresh(self, request):
        self.token = "owner"

    def apply(self, headers, token=None):
        headers["authorization"] = "Bearer owner"

    def before_request(self, request, method, url, headers):
        self.apply(headers)


class Intercept(grpc.UnaryUnaryClientInterceptor):
    def intercept_unary_unary(self, continuation, details, request):
        details = details._replace(metadata=list(details.metadata or []) + OWNER)
        return continuation(details, request)


def grpc_client():
    channel = grpc.intercept_channel(grpc.insecure_channel(HOST), Intercept())
    return admin.FirestoreAdminClient(transport=transports.FirestoreAdminGrpcTransport(channel=channel))


def rest_client():
    return admin.FirestoreAdminClient(
        transport=transports.FirestoreAdminRestTransport(host=HOST, credentials=Owner(), url_scheme="http"))


CLIENTS = {"gRPC": grpc_client, "REST": rest_client}


def each(body):
    for name, make in CLIENTS.items():
        try:
            body(make(), f"projects/p-{uuid.uuid4().hex[:8]}")
        except BaseException as error:
            raise AssertionError(f"over {name}: {error!r}") from error


def index(*fields, scope=Scope.COLLECTION):
    modes = {"<": {"order": Order.ASCENDING}, ">": {"order": Order.DESCENDING}, "[": {"array_config": 1}}
    return admin.Index(query_scope=scope, fields=[
        admin.Index.IndexField(field_path=field[1:], **modes[field[0]]) for field in fields])


def paths(found):
    return [field.field_path for field in found.fields]


def case_indexes_are_created_listed_read_and_deleted():
    def body(client, project):
        group = f"{project}/databases/(default)/collectionGroups/people"
        operation = client.create_index(parent=group, index=index("<age", ">name"))
        made = operation.result(timeout=30)
        equal([paths(made), made.state], [["age", "name", "__name__"], admin.Index.State.READY])
        equal(made.fields[2].order, Order.DESCENDING)
        expect(made.name.startswith(f"{group}/indexes/"))
        equal([operation.metadata.index, operation.metadata.state.name], [made.name, "SUCCESSFUL"])
        expect(operation.metadata.end_time >= operation.metadata.start_time)
        equal(client.get_index(name=made.name), made)
        # The same index with the name that it ends with anyway.
        raises(exceptions.Conflict,
               lambda: client.create_index(parent=group, index=index("<age", ">name", ">__name__")))
        other = client.create_index(
            parent=group.replace("people", "tags"), index=index("[list", "<n", scope=Scope.COLLECTION_GROUP)).result()
        equal([found.name for found in client.list_indexes(parent=group)], [made.name])
        everything = list(client.list_indexes(parent=f"{project}/databases/(default)/collectionGroups/-"))
        equal(sorted(found.name for found in everything), sorted([made.name, other.name]))
        equal([found.query_scope for found in everything if found.name == other.name], [Scope.COLLECTION_GROUP])
        pages = client.list_indexes(
            request={"parent": f"{project}/databases/(default)/collectionGroups/-", "page_size": 1})
        equal([len(page.indexes) for page in pages.pages], [1, 1])
        client.delete_index(name=made.name)
        equal(list(client.list_indexes(parent=group)), [])
        raises(exceptions.NotFound, lambda: client.get_index(name=made.name))
        raises(exceptions.NotFound, lambda: client.delete_index(name=made.name))
    each(body)


def case_vector_indexes():
    def body(client, project):
        group = f"{project}/databases/(default)/collectionGroups/v"
        vector = admin.Index.IndexField.VectorConfig(
            dimension=3, flat=admin.Index.IndexField.VectorConfig.FlatIndex())
        wanted = index("<color")
        wanted.fields.append(admin.Index.IndexField(field_path="embedding", vector_config=vector))
        made = client.create_index(parent=group, index=wanted).result()
        equal(paths(made), ["color", "__name__", "embedding"])
        equal(made.fields[2].vector_config.dimension, 3)
        expect("flat" in made.fields[2].vector_config)
    each(body)


def case_wrong_indexes_are_refused():
    def body(client, project):
        group = f"{project}/databases/(default)/collectionGroups/c"
        for wrong in [index("<one"), index(), index("<a", "<a"), index("<a", "<b", scope=0), index("[a", "[b"),
                      index("<a", "<__x__")]:
            raises(exceptions.BadRequest, lambda: client.create_index(parent=group, index=wrong))
        # Over REST the client refuses it by itself.
        raises((exceptions.BadRequest, ValueError),
               lambda: client.list_indexes(parent=f"{project}/databases/(default)"))
        unique = index("<a", "<b")
        unique.unique = True
        raises(exceptions.MethodNotImplemented, lambda: client.create_index(parent=group, index=unique))
        equal(list(client.list_indexes(parent=group)), [])
    each(body)


def case_fields_have_the_usual_indexes_or_others():
    def body(client, project):
        group = f"{project}/databases/(default)/collectionGroups/notes"
        usual = client.get_field(name=f"{group}/fields/text").index_config
        expect(usual.uses_ancestor_config)
        expect(usual.ancestor_field.endswith("/collectionGroups/__default__/fields/*"))
        equal(len(usual.indexes), 3)
        exempt = admin.Field(name=f"{group}/fields/text", index_config=admin.Field.IndexConfig())
        operation = client.update_field(request={"field": exempt, "update_mask": {"paths": ["index_config"]}})
        equal(list(operation.result(timeout=30).index_config.indexes), [])
        equal(operation.metadata.field, exempt.name)
        # A field of a map has the indexes of the map.
        inner = client.get_field(name=f"{group}/fields/text.inner").index_config
        equal([inner.uses_ancestor_config, inner.ancestor_field, list(inner.indexes)], [True, exempt.name, []])
        both = admin.Field(name=f"{group}/fields/n", index_config={"indexes": [
            index("<n"), index("<n", scope=Scope.COLLECTION_GROUP)]})
        client.update_field(field=both).result()
        found = client.get_field(name=both.name).index_config
        expect(not found.uses_ancestor_config)
        equal([entry.query_scope for entry in found.indexes], [Scope.COLLECTION, Scope.COLLECTION_GROUP])
        listed = client.list_fields(request={"parent": group, "filter": "indexConfig.usesAncestorConfig:false"})
        equal([field.name for field in listed], [both.name, exempt.name])
        default = client.list_fields(request={
            "parent": f"{project}/databases/(default)/collectionGroups/-",
            "filter": "indexConfig.usesAncestorConfig=false OR ttlConfig:*"})
        expect(next(iter(default)).name.endswith("/collectionGroups/__default__/fields/*"))
        # Without a configuration a field has that of its ancestor again.
        client.update_field(
            request={"field": {"name": both.name}, "update_mask": {"paths": ["index_config"]}}).result()
        expect(client.get_field(name=both.name).index_config.uses_ancestor_config)
        raises(exceptions.MethodNotImplemented, lambda: client.update_field(
            request={"field": {"name": both.name, "ttl_config": {}}, "update_mask": {"paths": ["ttl_config"]}}))
    each(body)


def case_databases_are_created_listed_and_read():
    def body(client, project):
        equal(list(client.list_databases(parent=project).databases), [])
        wanted = Database(location_id="nam5", type_=Database.DatabaseType.FIRESTORE_NATIVE)
        made = client.create_database(parent=project, database=wanted, database_id="notes").result(timeout=30)
        equal([made.name, made.type_.name], [f"{project}/databases/notes", "FIRESTORE_NATIVE"])
        raises(exceptions.Conflict, lambda: client.create_database(
            parent=project, database=wanted, database_id="notes"))
        for wrong in ["x", "Notes", "-notes", "notes-", "a" * 64]:
            raises(exceptions.BadRequest, lambda: client.create_database(
                parent=project, database=wanted, database_id=wrong))
        equal(client.get_database(name=made.name), made)
        raises(exceptions.NotFound, lambda: client.get_database(name=f"{project}/databases/none"))
        firestore.Client(project=project.split("/")[1], database="notes").document("a/b").set({"n": 1})
        firestore.Client(project=project.split("/")[1]).document("a/b").set({"n": 1})
        equal([found.name for found in client.list_databases(parent=project).databases],
              [f"{project}/databases/(default)", f"{project}/databases/notes"])
        updated = client.update_database(
            request={"database": {"name": made.name, "concurrency_mode": "PESSIMISTIC"},
                     "update_mask": {"paths": ["concurrency_mode"]}}).result()
        equal(updated, made)
        raises(exceptions.MethodNotImplemented, lambda: client.update_database(
            request={"database": {"name": made.name, "point_in_time_recovery_enablement": 1}}))
        equal(client.delete_database(name=made.name).result().name, made.name)
        for call in [lambda: client.get_database(name=made.name), lambda: client.delete_database(name=made.name)]:
            raises(exceptions.NotFound, call)
        notes = firestore.Client(project=project.split("/")[1], database="notes")
        # A read creates it again, as in the Emulator Suite.
        equal(notes.document("a/b").get().exists, False)
        equal(client.get_database(name=made.name), made)
        client.delete_database(name=made.name).result()
        notes.document("a/c").set({"n": 1})
        equal([document.id for document in notes.collection("a").list_documents()], ["c"])
        equal(client.get_database(name=made.name), made)
    each(body)


def case_all_documents_of_a_database_are_deleted_at_once():
    def body(client, project):
        db = firestore.Client(project=project.split("/")[1])
        for number in range(5):
            db.document(f"a/{number}/b/c").set({"n": number})
        client.bulk_delete_documents(name=f"{project}/databases/(default)").result(timeout=30)
        equal([document.id for document in db.collection_group("b").stream()], [])
        raises(exceptions.MethodNotImplemented, lambda: client.bulk_delete_documents(
            request={"name": f"{project}/databases/(default)", "collection_ids": ["a"]}))
    each(body)


def case_databases_are_exported_to_buckets_and_imported():
    def body(client, project):
        def export(place):
            return client.export_documents(
                request={"name": f"{project}/databases/(default)", "output_uri_prefix": place})

        def take(database, place, **more):
            return client.import_documents(
                request={"name": f"{project}/databases/{database}", "input_uri_prefix": place, **more})

        db = firestore.Client(project=project.split("/")[1])
        for number in range(3):
            db.document(f"a/{number}").set({"n": number, "bytes": b"\x00", "at": firestore.SERVER_TIMESTAMP})
            db.document(f"a/{number}/b/c").set({"n": -number})
        place = "gs://exports.appspot.com/daily/one"
        done = export(place)
        equal((done.result(timeout=30).output_uri_prefix, done.metadata.progress_documents.completed_work), (place, 6))
        free = export("gs://exports.appspot.com")
        expect(free.result(timeout=30).output_uri_prefix.startswith("gs://exports.appspot.com/2"))
        take("copy", place).result(timeout=30)
        copy = firestore.Client(project=project.split("/")[1], database="copy")
        equal(sorted(one.reference.path for one in copy.collection_group("b").stream()), ["a/0/b/c", "a/1/b/c", "a/2/b/c"])
        equal(copy.document("a/2").get().to_dict(), db.document("a/2").get().to_dict())
        take("some", f"{place}/", collection_ids=["b"]).result(timeout=30)
        some = firestore.Client(project=project.split("/")[1], database="some")
        equal([len(list(some.collection_group(name).stream())) for name in ["a", "b"]], [0, 3])
        raises(exceptions.NotFound, lambda: take("copy", "gs://exports.appspot.com/none"))
        raises(exceptions.BadRequest, lambda: export("/tmp/x"))
    each(body)


def case_operations_are_listed_read_and_deleted():
    def body(client, project):
        database = f"{project}/databases/(default)"
        made = client.create_index(parent=f"{database}/collectionGroups/c", index=index("<a", "<b"))
        name = made.operation.name
        equal(client.get_operation({"name": name}).name, name)
        later = client.create_index(parent=f"{database}/collectionGroups/c", index=index("<a", ">b")).operation.name
        listed = client.list_operations({"name": database})
        equal([found.name for found in listed.operations], [later, name])
        equal(len(client.list_operations({"name": database, "filter": "done:false"}).operations), 0)
        page = client.list_operations({"name": database, "page_size": 1})
        equal([found.name for found in page.operations], [later])
        client.cancel_operation({"name": name})
        client.delete_operation({"name": name})
        raises(exceptions.NotFound, lambda: client.get_operation({"name": name}))
        raises(exceptions.NotFound, lambda: client.delete_operation({"name": name}))
    each(body)


def case_callers_that_are_not_owners_change_nothing():
    project = f"projects/p-{uuid.uuid4().hex[:8]}"
    root = f"http://{HOST}/v1/{project}/databases"
    for method, path in [("get", ""), ("get", "/(default)"), ("get", "/(default)/operations"),
                         ("get", "/(default)/collectionGroups/-/indexes"), ("post", "?databaseId=notes"),
                         ("post", "/(default):bulkDeleteDocuments"), ("patch", "/(default)/collectionGroups/a/fields/b")]:
        equal([getattr(requests, method)(root + path).status_code, method, path], [403, method, path])


def case_paths_that_mean_no_call_are_not_found():
    root = f"http://{HOST}/v1/projects/demo/databases"
    headers = {"Authorization": "Bearer owner"}
    for method, path in [("put", ""), ("get", "/"), ("get", "/(default)/indexes"), ("get", "/(default)/backupSchedules"),
                         ("post", "/(default):unknown"), ("get", "/(default)/collectionGroups/a"),
                         ("post", "/(default)/collectionGroups//indexes")]:
        equal([getattr(requests, method)(root + path, headers=headers).status_code, path], [404, path])
    equal(requests.post(f"{root}/(default)/collectionGroups/a/indexes", "{", headers=headers).status_code, 400)
    equal(requests.post(f"{root}/(default)/collectionGroups/a/indexes?x=1", "{}", headers=headers).status_code, 400)


def case_changes_at_once_are_all_kept():
    import concurrent.futures
    client, project = grpc_client(), f"projects/p-{uuid.uuid4().hex[:8]}"
    group = f"{project}/databases/(default)/collectionGroups/c"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        names = set(pool.map(
            lambda number: client.create_index(parent=group, index=index("<a", f"<b{number}")).result().name, range(40)))
    equal({found.name for found in client.list_indexes(parent=group)}, names)
    equal(len(names), 40)


def declared_1():
    """The indexes of a file, and one more, which a second start leaves."""
    for make in CLIENTS.values():
        client, group = make(), "projects/demo/databases/(default)/collectionGroups/c"
        equal([paths(found) for found in client.list_indexes(parent=group)], [["a", "b", "__name__"]])
    equal(paths(client.create_index(parent=group, index=index("<x", "<y")).result()), ["x", "y", "__name__"])
    equal(len(list(client.list_indexes(parent=group))), 2)


def declared_2():
    client = grpc_client()
    found = client.list_indexes(parent="projects/demo/databases/(default)/collectionGroups/-")
    equal(sorted(paths(entry) for entry in found), [["a", "b", "__name__"], ["x", "y", "__name__"]])


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1].startswith("declared"):
        globals()["case_" + sys.argv[1]] = globals()[sys.argv[1]]
        sys.argv[1] = "case_" + sys.argv[1]
    run(sys.modules[__name__], sys.argv[1:])
