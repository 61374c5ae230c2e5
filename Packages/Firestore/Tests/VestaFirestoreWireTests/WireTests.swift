import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaFirestoreWire

@Suite struct WireTests {
  /// The message of the error that `body` throws.
  private func failure(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? BytesError)?.message
    }
  }

  @Test func `values have the bytes of the published definition`() throws {
    func bytes(_ value: Value) throws -> [UInt8] {
      try Array(DocumentWire.bytes(of: Document(name: "", fields: ["a": value])).dropFirst(7))
    }
    #expect(try bytes(.null) == [0x58, 0])
    #expect(try bytes(.boolean(false)) == [0x08, 0])
    #expect(try bytes(.integer(0)) == [0x10, 0])
    #expect(try bytes(.string("")) == [0x8A, 1, 0])
    #expect(try bytes(.bytes([9])) == [0x92, 1, 1, 9])
    #expect(try bytes(.geoPoint(GeoPoint(latitude: 0, longitude: 0))) == [0x42, 0])
    #expect(try bytes(.array([.null])) == [0x4A, 4, 0x0A, 2, 0x58, 0])
    #expect(try bytes(.map([:])) == [0x32, 0])
  }

  @Test func `a value without a type is refused, in both forms and at every place`() {
    // A document whose field "a" has no value at all, and one whose value is empty.
    #expect(failure { _ = try DocumentWire.message(from: [0x12, 3, 0x0A, 1, 0x61]) }?.contains("no value") == true)
    #expect(failure { _ = try DocumentWire.message(from: [0x12, 5, 0x0A, 1, 0x61, 0x12, 0]) } == ValueWire.noType)
    for json in [#"{}"#, #"{"integerValue":"1","booleanValue":true}"#, #"{"pipelineValue":{}}"#, "1", "null"] {
      let document = Array(#"{"fields":{"a":\#(json)}}"#.utf8)
      #expect(failure { _ = try DocumentWire.message(json: document) } != nil, "\(json)")
    }
  }

  @Test func `a member of a value with another wire type is skipped, and is no value`() throws {
    func read(_ bytes: [UInt8]) throws -> Value? {
      let entry: [UInt8] = [0x0A, 1, 0x61, 0x12, UInt8(bytes.count)] + bytes
      return try DocumentWire.message(from: [0x12, UInt8(entry.count)] + entry).fields["a"]
    }
    // The number of each member with the content of another wire type, alone and around a value.
    let others: [[UInt8]] = [
      [0x0A, 1, 1], [0x15, 1, 2, 3, 4], [0x1A, 1, 0x61], [0x28, 1], [0x30, 1], [0x41, 1, 2, 3, 4, 5, 6, 7, 8],
      [0x48, 1],
      [0x50, 1], [0x5A, 0], [0x88, 1, 1], [0x95, 1, 1, 2, 3, 4],
    ]
    for other in others {
      #expect(failure { _ = try read(other) } == ValueWire.noType, "\(other)")
      #expect(try read(other + [0x10, 7] + other) == .integer(7), "\(other)")
    }
    // Within a point, a timestamp, a map and an array.
    let point = GeoPoint(latitude: 0, longitude: 0)
    #expect(try read([0x42, 4, 0x08, 1, 0x10, 1]) == .geoPoint(point))
    #expect(try read([0x52, 6, 0x0A, 0, 0x12, 0, 0x08, 5]) == .timestamp(Timestamp(seconds: 5)))
    #expect(try read([0x32, 2, 0x08, 1]) == .map([:]))
    #expect(try read([0x4A, 6, 0x08, 1, 0x0A, 2, 0x58, 0]) == .array([.null]))
  }

  @Test func `a write that verifies has the field that the published definition lacks`() throws {
    let write = Write.verify("a", precondition: .exists(false))
    #expect(try WriteWire.bytes(of: write) == [0x22, 2, 0x08, 0, 0x2A, 1, 0x61])
    #expect(try WriteWire.value(from: WriteWire.bytes(of: write)) == write)
    #expect(try WriteWire.value(json: JSONValue(json: WriteWire.json(of: write))) == write)
  }

  @Test func `a write without an operation, and a deletion with a mask, are refused`() {
    #expect(failure { _ = try WriteWire.value(from: [0x22, 2, 0x08, 0]) } == "a write has no operation")
    #expect(failure { _ = try WriteWire.value(from: [0x12, 1, 0x61, 0x1A, 0]) }?.contains("mask") == true)
  }

  @Test func `a write with two operations is refused in JSON, and in bytes the last one counts`() throws {
    func read(_ json: String) throws -> Write { try WriteWire.value(json: JSONValue(json: json)) }
    let several = [
      #"{"delete":"a","update":{"name":"a"}}"#, #"{"update":{"name":"a"},"delete":"a"}"#,
      #"{"verify":"a","delete":"b"}"#, #"{"delete":"a","transform":{"document":"a"}}"#,
      #"{"update":{"name":"a"},"updateTransforms":[{"increment":{"integerValue":"1"},"maximum":{"integerValue":"1"}}]}"#,
      #"{"delete":"a","currentDocument":{"exists":true,"updateTime":"2026-01-01T00:00:00Z"}}"#,
    ]
    for json in several {
      #expect(failure { _ = try read(json) }?.contains("only one") == true, "\(json)")
    }
    #expect(try read(#"{"delete":"a","update":null}"#) == .delete("a"))
    #expect(try WriteWire.value(from: [0x12, 1, 0x61, 0x2A, 1, 0x62]) == Write(.verify(name: "b")))
  }

  @Test func `a precondition without a condition is none`() throws {
    #expect(try WriteWire.value(from: [0x12, 1, 0x61, 0x22, 0]) == .delete("a"))
  }

  @Test func `a projection without fields stays one`() throws {
    #expect(try QueryWire.message(from: [0x0A, 0]).select == [])
    #expect(try QueryWire.message(from: []).select == nil)
    for select in [nil, [], ["__name__"], ["a", "b"]] as [[String]?] {
      let query = StructuredQuery(select: select, from: [])
      #expect(try QueryWire.message(from: QueryWire.bytes(of: query)).select == select)
      #expect(try QueryWire.message(json: QueryWire.json(of: query)).select == select)
    }
  }

  @Test func `an order without a direction ascends, and an unspecified operator is refused`() throws {
    // orderBy: { field: { fieldPath: "a" } }
    #expect(try QueryWire.message(from: [0x22, 5, 0x0A, 3, 0x12, 1, 0x61]).orderBy == [.init(fieldPath: "a")])
    let filter =
      #"{"where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"OPERATOR_UNSPECIFIED","value":{"nullValue":null}}}}"#
    #expect(failure { _ = try QueryWire.message(json: Array(filter.utf8)) }?.contains("operator") == true)
  }

  @Test func `the id of a write travels in labels, and others are ignored`() throws {
    let id = WriteRequestID(queue: [1, 0xFF], number: 12)
    let request = WriteStreamRequest(streamID: "s", WriteRequest(database: "d", streamToken: [7], id: id))
    #expect(try WriteRequestWire.value(from: WriteRequestWire.bytes(of: request)) == request)
    let json = #"{"labels":{"vesta-queue":"zz","vesta-number":"1","other":"x"}}"#
    #expect(try WriteRequestWire.value(json: JSONValue(json: json)).request.id == nil)
  }

  @Test func `the cause of a removed target and the statuses of several writes are errors`() throws {
    let cause = FirestoreServiceError(.permissionDenied, "no")
    let change = ListenResponse.targetChange(TargetChange(.remove, targetIDs: [1, 300], cause: cause))
    #expect(try ListenResponseWire.message(from: ListenResponseWire.bytes(of: change)) == change)
    let response = BatchWriteResponse(results: [.success(WriteResult()), .failure(cause)])
    #expect(try BatchWriteResponseWire.value(from: BatchWriteResponseWire.bytes(of: response)) == response)
  }

  @Test func `a response of a type that is not known is nothing, and a query that is missing an error`() throws {
    #expect(try ListenResponseWire.message(from: [0xFA, 1, 0]) == nil)
    #expect(failure { _ = try RunQueryRequestWire.value(from: []) } == "the request has no query")
  }

  @Test func `durations have up to nine digits after the point`() throws {
    func read(_ text: String) throws -> Duration {
      let json = #"{"explainMetrics":{"executionStats":{"executionDuration":"\#(text)"}}}"#
      let response = try RunQueryResponseWire.message(json: Array(json.utf8))
      return try #require(response.explainMetrics?.executionStats?.executionDuration)
    }
    #expect(try read("1s") == .seconds(1))
    #expect(try read("-1.5s") == .milliseconds(-1_500))
    #expect(try read("0.123456789s") == .nanoseconds(123_456_789))
    for text in ["1", "s", "1.s", "+1s", "1.1234567890s", "--1s", "1.5.1s", "999999999999s"] {
      #expect(failure { _ = try read(text) } != nil, "\(text)")
    }
  }

  @Test func `hostile bytes and JSON give a message or an error`() throws {
    var random = SplitMix(seed: 11)
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms", allDescendants: true)],
      filter: .composite(
        .or, [.field(path: "a", .in, .array([.integer(1), .string("é")])), .unary(path: "b", .isNaN)]),
      orderBy: [.init(fieldPath: "a", .descending)], startAt: .init(values: [.double(1.5)], before: true), limit: 3)
    let document = Document(
      name: "projects/p/databases/d/documents/c/a", fields: ["a": .map(["b": .array([.null, .bytes([1, 2])])])],
      createTime: Timestamp(seconds: 1, nanos: 5))
    let request = CommitRequest(
      database: "d",
      writes: [
        .update(document, mask: DocumentMask(fieldPaths: ["a"]), transforms: [.init(fieldPath: "c", .serverTimestamp)]),
        .delete("x"),
      ])
    let forms = [
      try CommitRequestWire.bytes(of: request), try CommitRequestWire.json(of: request),
      try RunQueryRequestWire.bytes(of: RunQueryRequest(parent: "p", query: query)),
      try RunQueryRequestWire.json(of: RunQueryRequest(parent: "p", query: query)),
    ]
    var refused = 0
    for round in 0..<40_000 {
      var bytes = forms[round % 4]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
        }
      }
      do {
        switch round % 4 {
        case 0: _ = try CommitRequestWire.message(from: bytes)
        case 1: _ = try CommitRequestWire.message(json: bytes)
        case 2: _ = try RunQueryRequestWire.value(from: bytes)
        default: _ = try RunQueryRequestWire.value(json: JSONValue(json: bytes))
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 10_000 && refused < 40_000)
  }
}
