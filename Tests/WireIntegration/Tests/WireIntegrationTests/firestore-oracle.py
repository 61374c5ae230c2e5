"""Random messages of google.firestore.v1 by Google's own definitions, and the comparison with what became of them.

The bytes of every third message have fields that no definition has, at every depth; nothing is to become of them.

  firestore-oracle.py write SEED COUNT FILE   writes COUNT messages: a line each of name, bytes in hex, JSON
  firestore-oracle.py check FILE RESULTS      RESULTS has a line for each message: name, bytes and JSON that were made of the
                                              bytes, and bytes that were made of the JSON; all have to be the same message
"""
import json
import random
import sys

from google.cloud.firestore_v1 import types
from google.protobuf import json_format

NAMES = [
    "Document", "DocumentMask", "StructuredQuery", "Write", "WriteResult", "GetDocumentRequest", "ListDocumentsRequest",
    "ListDocumentsResponse", "CreateDocumentRequest", "UpdateDocumentRequest", "DeleteDocumentRequest",
    "BatchGetDocumentsRequest", "BatchGetDocumentsResponse", "BeginTransactionRequest", "BeginTransactionResponse",
    "CommitRequest", "CommitResponse", "RollbackRequest", "RunQueryRequest", "RunQueryResponse",
    "RunAggregationQueryRequest", "RunAggregationQueryResponse", "PartitionQueryRequest", "PartitionQueryResponse",
    "ListCollectionIdsRequest", "ListCollectionIdsResponse", "BatchWriteRequest", "BatchWriteResponse", "WriteRequest",
    "WriteResponse", "ListenRequest", "ListenResponse", "Target",
]

# What Vesta does not keep: tags of requests, labels of writes, details of statuses, pipelines and their values.
SKIPPED = {
    "request_options", "details", "structured_pipeline", "pipeline_query", "field_reference_value", "function_value",
    "pipeline_value", "variable_reference_value", "explain_stats",
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
    "Status": {"code"}, "DocumentMask": {"field_paths"},
}
# Oneofs of which one member has to be there.
CHOSEN = {"Value", "Filter", "Write", "FieldTransform", "Aggregation", "TransactionOptions", "Precondition", "Target",
          "ListenRequest", "ListenResponse", "RunQueryRequest", "RunAggregationQueryRequest", "PartitionQueryRequest",
          "StructuredAggregationQuery", "QueryTarget", "UnaryFilter"}
OPTIONAL_ONEOFS = {"resume_type", "consistency_selector", "result", "continuation_selector"}

TEXTS = ["", "a", "rooms", "`a b`.c", "é", "e\u0301", "\u0000", "🐢", "\"\\/\b", "x" * 200, "__name__", "\u2028"]


# Fields that no definition has, one of each wire type: their numbers are 1000 and the largest of all.
UNKNOWN = [bytes.fromhex(field) for field in [
    "c03e07", "c03effffffffffffffffff01", "c13e0102030405060708", "c23e00", "c23e03616263", "c53e01020304", "c33ec03e01c43e",
    "c33ec33ec23e0161c43ec43e", "f8ffffff0f01", "faffffff0f020a00",
]]


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
        if descriptor.full_name == "google.protobuf.Struct":
            # Not empty: the seam has an empty structure for one that is absent.
            for key in self.random.sample(["a", "b", "é"], self.random.randrange(1, 3)):
                message[key] = self.random.choice([None, 1.0, True, "x", [1.0, "y"], {"z": 2.0}])
            return
        needed = REQUIRED.get(name, set())
        for oneof in descriptor.oneofs:
            fields = [f for f in oneof.fields if f.name not in SKIPPED]
            if name == "Value" and depth <= 0:
                fields = [f for f in fields if f.name not in ("array_value", "map_value")]
            if name == "Filter" and depth <= 0:
                fields = [f for f in fields if f.name == "field_filter"]
            if not fields or (oneof.name in OPTIONAL_ONEOFS or name not in CHOSEN) and self.random.random() < 0.4:
                continue
            self.set(message, self.random.choice(fields), depth, True)
        for field in descriptor.fields:
            if field.containing_oneof or field.name in SKIPPED or field.name == "labels" and name in LABELLESS:
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

    def message(self, name):
        message = getattr(types, name).pb()()
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
            name = NAMES[number % len(NAMES)]
            message = maker.message(name)
            text = json_format.MessageToJson(message, indent=None)
            if number // len(NAMES) % 3 == 0:
                maker.add_unknown(message)
            file.write(f"{name}\t{message.SerializeToString().hex()}\t{text}\n")


def check(path, results):
    failed = 0
    with open(path, encoding="utf-8") as written, open(results, encoding="utf-8") as made:
        for number, (line, answer) in enumerate(zip(written, made, strict=True)):
            name, original, _ = line.rstrip("\n").split("\t")
            parts = answer.rstrip("\n").split("\t")
            kind = getattr(types, name).pb()
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
