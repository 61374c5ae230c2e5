public import BenchmarkKit
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire

/// A document of ten fields as protobuf and as JSON.
public func wireBenchmarks() -> [Benchmark] {
  guard let bytes = try? DocumentWire.bytes(of: document), let json = try? DocumentWire.json(of: document),
    let value = try? JSONValue(json: json)
  else { return [] }
  let peer = CPlusPlus(bytes)
  return [
    Benchmark(
      name: "wire-document-read", bar: .ratio(atMost: 0.6),
      ours: ("Vesta", { sum(200_000) { (try? DocumentWire.message(from: bytes))?.fields.count ?? 0 } }),
      other: ("protobuf for C++", { await peer.cost(reads: true) })),
    Benchmark(
      name: "wire-document-write", bar: .ratio(atMost: 1),
      ours: ("Vesta", { sum(200_000) { (try? DocumentWire.bytes(of: document))?.count ?? 0 } }),
      other: ("protobuf for C++", { await peer.cost(reads: false) })),
    // The bar is a rate: 0.6 of the plain one is 1.67 times its cost.
    Benchmark(
      name: "wire-document-json-read", bar: .ratio(atMost: 1.67),
      ours: ("a document", { sum(50_000) { (try? DocumentWire.message(json: json))?.fields.count ?? 0 } }),
      other: ("the same text as JSON", { sum(50_000) { (try? JSONValue(json: json))?.object?.count ?? 0 } })),
    Benchmark(
      name: "wire-document-json-write", bar: .ratio(atMost: 1.67),
      ours: ("a document", { sum(50_000) { (try? DocumentWire.json(of: document))?.count ?? 0 } }),
      other: ("the same text as JSON", { sum(50_000) { (try? value.json())?.count ?? 0 } })),
  ]
}

private let document = Document(
  name: "projects/demo/databases/(default)/documents/users/ada",
  fields: [
    "name": .string("Ada Lovelace"), "email": .string("ada@example.com"), "age": .integer(36), "score": .double(12.5),
    "isActive": .boolean(true), "manager": .null, "joined": .timestamp(Timestamp(seconds: 1_767_225_600, nanos: 5000)),
    "tags": .array([.string("math"), .string("engines")]),
    "address": .map(["city": .string("London"), "zip": .integer(12345)]),
    "place": .geoPoint(GeoPoint(latitude: 51.5, longitude: -0.12)),
  ],
  createTime: Timestamp(seconds: 1_767_225_600, nanos: 0), updateTime: Timestamp(seconds: 1_767_225_601, nanos: 0))
