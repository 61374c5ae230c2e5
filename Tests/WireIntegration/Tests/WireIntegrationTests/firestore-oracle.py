"""Random messages of google.firestore.v1 and google.firestore.admin.v1 by Google's own definitions, and the comparison with
what became of them.

The bytes of every third message have fields that no definition has, and fields of known numbers with another wire type, at
every depth; nothing is to become of them.

  firestore-oracle.py write SEED COUNT FILE   writes COUNT messages: a line each of name, bytes in hex, JSON
  firestore-oracle.py check FILE RESULTS      RESULTS has a line for each message: name, bytes and JSON that were made of the
                                              bytes, and bytes that were made of the JSON; all have to be the same message
"""
import json
import random
import sys

from google.cloud.firestore_admin_v1 import types as admin_types
from google.cloud.firestore_v1 import types
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2, json_format
from google.protobuf.descriptor import FieldDescriptor as Kinds

NAMES = [
    "Document", "DocumentMask", "StructuredQuery", "Write", "WriteResult", "GetDocumentRequest", "ListDocumentsRequest",
    "ListDocumentsResponse", "CreateDocumentRequest", "UpdateDocumentRequest", "DeleteDocumentRequest",
    "BatchGetDocumentsRequest", "BatchGetDocumentsResponse", "BeginTransactionRequest", "BeginTransactionResponse",
    "CommitRequest", "CommitResponse", "RollbackRequest", "RunQueryRequest", "RunQueryResponse",
    "RunAggregationQueryRequest", "RunAggregationQueryResponse", "PartitionQueryRequest", "PartitionQueryResponse",
    "ListCollectionIdsRequest", "ListCollectionIdsResponse", "BatchWriteRequest", "BatchWriteResponse", "WriteRequest",
    "WriteResponse", "ListenRequest", "ListenResponse", "Target",
]
# Of google.firestore.admin.v1.
ADMIN_NAMES = [
    "Index", "Field", "Database", "CreateIndexRequest", "GetIndexRequest", "DeleteIndexRequest", "ListIndexesRequest",
    "ListIndexesResponse", "GetFieldRequest", "UpdateFieldRequest", "ListFieldsRequest", "ListFieldsResponse",
    "CreateDatabaseRequest", "GetDatabaseRequest", "UpdateDatabaseRequest", "DeleteDatabaseRequest",
    "ListDatabasesRequest", "ListDatabasesResponse", "BulkDeleteDocumentsRequest", "ExportDocumentsRequest",
    "ImportDocumentsRequest", "ExportDocumentsResponse", "ExportDocumentsMetadata", "ImportDocumentsMetadata",
    "IndexOperationMetadata", "FieldOperationMetadata",
]
# Of google.longrunning.
OPERATION_NAMES = ["Operation", "GetOperationRequest", "ListOperationsRequest", "ListOperationsResponse"]
ALL_NAMES = NAMES + ADMIN_NAMES + OPERATION_NAMES
# The messages that operations carry.
CARRIED = ["Index", "Field", "Database", "ExportDocumentsResponse", "ExportDocumentsMetadata", "ImportDocumentsMetadata",
           "IndexOperationMetadata", "FieldOperationMetadata", "Empty"]


def kind_of(name):
    """The class of a message."""
    if name == "Empty":
        return empty_pb2.Empty
    if name in OPERATION_NAMES:
        return getattr(operations_pb2, name)
    return getattr(admin_types if name in ADMIN_NAMES else types, name).pb()


# What Vesta does not keep: tags of requests, labels of writes, details of statuses, pipelines and their values; of
# administration search indexes, backups, tags, modes of access, and the progress of work on indexes.
SKIPPED = {
    "search_index_options", "search_config", "expiration_offset", "delete_time", "previous_id", "source_info", "tags",
    "free_tier", "realtime_updates_mode", "firestore_data_access_mode", "mongodb_compatible_data_access_mode",
    "active_key_version", "unreachable", "return_partial_success", "index_config_deltas", "ttl_config_delta",
    "request_options", "details", "structured_pipeline", "pipeline_query", "field_reference_value", "function_value",
    "pipeline_value", "variable_reference_value", "explain_stats",
}
SKIPPED_OF = {
    "IndexOperationMetadata": {"progress_documents", "progress_bytes"},
    "FieldOperationMetadata": {"progress_documents", "progress_bytes"},
    "ExportDocumentsMetadata": {"namespace_ids", "snapshot_time"}, "ImportDocumentsMetadata": {"namespace_ids"},
}
LABELLESS = {"WriteRequest", "BatchWriteRequest", "ListenRequest"}

# Fields that a message needs to mean anything; others are there or not.
REQUIRED = {
    "FieldFilter": {"field", "op", "value"}, "UnaryFilter": {"field", "op"}, "CompositeFilter": {"op"},
    "Order": {"field", "direction"}, "Projection": {"fields"}, "FieldReference": {"field_path"},
    "FindNearest": {"vector_field", "query_vector", "distance_measure", "limit"}, "Sum": {"field"}, "Avg": {"field"},
    "StructuredAggregationQuery": {"structured_query"}, "QueryTarget": {"structured_query"},
    "RunQueryRequest": {"structured_query"}, "RunAggregationQueryRequest": {"structured_aggregation_query"},
    "PartitionQueryRequest": {"structured_query"}, "CommitResponse": {"commit_time"}, "DocumentChange": {"document"},
    "CreateDocumentRequest": {"document"}, "UpdateDocumentRequest": {"document"}, "BloomFilter": {"bits"},
    "BeginTransactionRequest": {"options"}, "ExplainMetrics": {"plan_summary"}, "ExecutionStats": {"execution_duration"},
    "Status": {"code"}, "DocumentMask": {"field_paths"}, "CreateIndexRequest": {"index"}, "UpdateFieldRequest": {"field"},
    "CreateDatabaseRequest": {"database"}, "UpdateDatabaseRequest": {"database"},
    "ExportDocumentsMetadata": {"progress_documents", "progress_bytes"},
    "ImportDocumentsMetadata": {"progress_documents", "progress_bytes"},
}
# Oneofs of which one member has to be there.
CHOSEN = {"Value", "Filter", "Write", "FieldTransform", "Aggregation", "TransactionOptions", "Precondition", "Target",
          "ListenRequest", "ListenResponse", "RunQueryRequest", "RunAggregationQueryRequest", "PartitionQueryRequest",
          "StructuredAggregationQuery", "QueryTarget", "UnaryFilter", "VectorConfig"}
OPTIONAL_ONEOFS = {"resume_type", "consistency_selector", "result", "continuation_selector"}

TEXTS = ["", "a", "rooms", "`a b`.c", "é", "e\u0301", "\u0000", "🐢", "\"\\/\b", "x" * 200, "__name__", "\u2028"]


# Fields that no definition has, one of each wire type: their numbers are 1000 and the largest of all.
UNKNOWN = [bytes.fromhex(field) for field in [
    "c03e07", "c03effffffffffffffffff01", "c13e0102030405060708", "c23e00", "c23e03616263", "c53e01020304", "c33ec03e01c43e",
    "c33ec33ec23e0161c43ec43e", "f8ffffff0f01", "faffffff0f020a00",
]]


# The contents of a field by its wire type, and the wire types of the kinds of fields that are neither bytes nor messages.
CONTENTS = {0: b"\xff\x01", 1: bytes(8), 2: b"\x02\x08\x01", 5: b"abcd"}
WIRE_TYPES = {Kinds.CPPTYPE_BOOL: 0, Kinds.CPPTYPE_ENUM: 0, Kinds.CPPTYPE_INT32: 0, Kinds.CPPTYPE_INT64: 0,
              Kinds.CPPTYPE_DOUBLE: 1, Kinds.CPPTYPE_FLOAT: 5}


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def scalar(self, field, needed):
        r = self.random
        kind = field.cpp_type
        if field.type == field.TYPE_BYTES:
            return bytes(r.randrange(256) for _ in range(r.randrange(1, 40)))
        if kind == field.CPPTYPE_STRING:
            return r.choice(TEXTS[1:] if needed else TEXTS)
        if kind == field.CPPTYPE_BOOL:
            return r.random() < 0.5
        if kind == field.CPPTYPE_DOUBLE:
            return r.choice([0.0, -0.0, 1.5, -3.0, 1e300, 5e-324, float("inf"), float("-inf"), 2.0**53, 0.1, float("nan")])
        if kind == field.CPPTYPE_ENUM:
            return r.choice([v.number for v in field.enum_type.values if v.number > 0] or [0])
        if kind == field.CPPTYPE_INT32:
            return r.choice([1, 7, 127, 128, 16384, 2**31 - 1] if needed else [0, 1, -1, 127, 128, -2**31, 2**31 - 1])
        return r.choice([0, 1, -1, 2**53 + 1, -2**63, 2**63 - 1])

    def fill(self, message, depth):
        descriptor = message.DESCRIPTOR
        name = descriptor.name
        if descriptor.full_name == "google.protobuf.Timestamp":
            message.seconds = self.random.choice([0, 1, 1700000000, -62135596800, 253402300799])
            message.nanos = self.random.choice([0, 1, 1000, 123000000, 999999999])
            return
        if descriptor.full_name == "google.protobuf.Duration":
            message.seconds = self.random.choice([0, 1, 3600])
            message.nanos = self.random.choice([0, 1000000, 123456789])
            return
        if descriptor.full_name == "google.protobuf.FieldMask":
            paths = ["name", "index_config", "ttl_config.state", "delete_protection_state"]
            message.paths.extend(self.random.sample(paths, self.random.randrange(4)))
            return
        if descriptor.full_name == "google.protobuf.Any":
            content = kind_of(self.random.choice(CARRIED))()
            self.fill(content, depth - 1)
            message.Pack(content)
            return
        if descriptor.full_name == "google.protobuf.Struct":
            # Not empty: the seam has an empty structure for one that is absent.
            for key in self.random.sample(["a", "b", "é"], self.random.randrange(1, 3)):
                message[key] = self.random.choice([None, 1.0, True, "x", [1.0, "y"], {"z": 2.0}])
            return
        needed = REQUIRED.get(name, set())
        skipped = SKIPPED | SKIPPED_OF.get(name, set())
        for oneof in descriptor.oneofs:
            fields = [f for f in oneof.fields if f.name not in skipped]
            if name == "Value" and depth <= 0:
                fields = [f for f in fields if f.name not in ("array_value", "map_value")]
            if name == "Filter" and depth <= 0:
                fields = [f for f in fields if f.name == "field_filter"]
            if not fields or (oneof.name in OPTIONAL_ONEOFS or name not in CHOSEN) and self.random.random() < 0.4:
                continue
            self.set(message, self.random.choice(fields), depth, True)
        for field in descriptor.fields:
            if field.containing_oneof or field.name in skipped or field.name == "labels" and name in LABELLESS:
                continue
            if name == "Write" and field.name in ("update_mask", "update_transforms") and not message.HasField("update"):
                continue
            if field.name in needed or self.random.random() < (0.7 if depth > 0 else 0.2):
                self.set(message, field, depth, field.name in needed)

    def set(self, message, field, depth, needed):
        if field.is_repeated:
            count = self.random.randrange(1 if needed else 0, 4)
            values = getattr(message, field.name)
            if field.message_type is not None and field.message_type.GetOptions().map_entry:
                value = field.message_type.fields_by_name["value"]
                for _ in range(count):
                    key = self.random.choice(TEXTS)
                    if value.message_type is None:
                        values[key] = self.scalar(value, False)
                    else:
                        values[key].Clear()
                        self.fill(values[key], depth - 1)
            elif field.message_type is not None:
                for _ in range(count):
                    self.fill(values.add(), depth - 1)
            else:
                values.extend(self.scalar(field, needed) for _ in range(count))
        elif field.message_type is not None:
            child = getattr(message, field.name)
            child.SetInParent()
            self.fill(child, depth - 1)
        elif field.name == "done":
            message.done = True
        else:
            setattr(message, field.name, self.scalar(field, needed or field.name == "transaction"))

    def add_unknown(self, message):
        """Adds unknown fields to a message and to those inside of it."""
        for field, value in list(message.ListFields()):
            if field.message_type is None:
                continue
            if not field.is_repeated:
                self.add_unknown(value)
            elif not field.message_type.GetOptions().map_entry:
                for element in value:
                    self.add_unknown(element)
            elif field.message_type.fields_by_name["value"].message_type is not None:
                for key in value:
                    self.add_unknown(value[key])
        for _ in range(self.random.randrange(3)):
            message.MergeFromString(self.random.choice(UNKNOWN))
        if message.DESCRIPTOR.fields and self.random.random() < 0.5:
            message.MergeFromString(self.mistyped(self.random.choice(message.DESCRIPTOR.fields)))

    def mistyped(self, field):
        """The bytes of a field with its number and a wire type that it does not have."""
        own = WIRE_TYPES.get(field.cpp_type, 2)
        if field.type == field.TYPE_BYTES:
            own = 2
        # Numbers of a repeated field are read packed and singly.
        others = [kind for kind in CONTENTS if kind != own and not (field.is_repeated and kind == 2)]
        kind = self.random.choice(others)
        (tag, bytes_of_tag) = (field.number << 3 | kind, [])
        while tag > 127:
            bytes_of_tag.append(tag & 127 | 128)
            tag >>= 7
        return bytes(bytes_of_tag + [tag]) + CONTENTS[kind]

    def message(self, name):
        message = kind_of(name)()
        self.fill(message, self.random.randrange(1, 6))
        if name == "BatchWriteResponse":
            del message.write_results[len(message.status):]
            del message.status[len(message.write_results):]
            for result, status in zip(message.write_results, message.status):
                status.code = self.random.choice([0, 0, status.code % 16 + 1])
                if status.code == 0:
                    status.message = ""
                else:
                    result.Clear()
        for change in causes(message):
            change.cause.code = change.cause.code % 16 + 1
        return message


def causes(message):
    if message.DESCRIPTOR.name == "ListenResponse" and message.HasField("target_change"):
        if message.target_change.HasField("cause"):
            yield message.target_change


def write(seed, count, path):
    maker = Maker(seed)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            name = ALL_NAMES[number % len(ALL_NAMES)]
            message = maker.message(name)
            text = json_format.MessageToJson(message, indent=None)
            if number // len(ALL_NAMES) % 3 == 0:
                maker.add_unknown(message)
            file.write(f"{name}\t{message.SerializeToString().hex()}\t{text}\n")


def check(path, results):
    failed = 0
    with open(path, encoding="utf-8") as written, open(results, encoding="utf-8") as made:
        for number, (line, answer) in enumerate(zip(written, made, strict=True)):
            name, original, _ = line.rstrip("\n").split("\t")
            parts = answer.rstrip("\n").split("\t")
            kind = kind_of(name)
            wanted = kind.FromString(bytes.fromhex(original))
            wanted.DiscardUnknownFields()
            wanted = wanted.SerializeToString(deterministic=True)
            try:
                got = [
                    kind.FromString(bytes.fromhex(parts[1])),
                    json_format.Parse(parts[2], kind()),
                    kind.FromString(bytes.fromhex(parts[3])),
                ]
            except Exception as error:  # noqa: BLE001: every failure is reported with its message
                print(f"message {number}, {name}: {error}: {answer[:400]}")
                failed += 1
                continue
            for form, message in zip(["bytes to bytes", "bytes to JSON", "JSON to bytes"], got):
                if message.SerializeToString(deterministic=True) != wanted:
                    print(f"message {number}, {name}, {form}: {kind.FromString(wanted)}\nbecame\n{message}")
                    failed += 1
    print(f"{failed} failed")
    return failed == 0


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    elif not check(sys.argv[2], sys.argv[3]):
        sys.exit(1)
