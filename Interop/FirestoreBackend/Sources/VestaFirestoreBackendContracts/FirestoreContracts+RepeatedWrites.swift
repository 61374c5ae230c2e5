import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promises of a backend that keeps its answers to requests of write calls, see `WriteRequestID`.
  ///
  /// A backend that does not look at identifiers leaves this list out.
  public static let repeatedWrites: [Contract<FirestoreSubject>] = [
    Contract("a request that is sent again is applied once and gets its first answer") { subject in
      let requests = (1...10).map { subject.increment("rooms/a", by: $0, queue: 1, number: $0) }
      let first = try await subject.answers(to: requests)
      try await subject.commit(subject.set("rooms/b"))
      let second = try await subject.answers(to: requests)
      try expect(second.map(\.commitTime), equals: first.map(\.commitTime), "the times of the commits")
      try expect(second.map(\.writeResults), equals: first.map(\.writeResults), "the results")
      try expect(second.last?.writeResults.first?.transformResults, equals: [.integer(55)], "the last result")
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(55), "the field")
    },
    Contract("a request that is sent again does not undo what came after it") { subject in
      let request = WriteRequest(
        writes: [subject.set("rooms/a", ["n": .integer(1)])], id: subject.requestID(queue: 1, number: 1))
      _ = try await subject.answers(to: [request])
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)]))
      _ = try await subject.answers(to: [request])
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(2), "the field")
    },
    Contract("a request that was refused is refused again") { subject in
      let request = WriteRequest(
        writes: [subject.set("rooms/a", ["n": .integer(1)], precondition: .exists(true))],
        id: subject.requestID(queue: 1, number: 1))
      try await expectRefusal(.notFound, of: "changing what is not there") {
        try await subject.answers(to: [request])
      }
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)]))
      try await expectRefusal(.notFound, of: "a request that was refused") {
        try await subject.answers(to: [request])
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(2), "the field")
    },
    Contract("a request before the window is refused and changes nothing") { subject in
      let last = Int64(WriteRequestID.window) + 1
      _ = try await subject.answers(to: (1...last).map { subject.increment("rooms/a", by: 1, queue: 1, number: $0) })
      try await expectRefusal(.alreadyExists, of: "a request whose answer is gone") {
        try await subject.answers(to: [subject.increment("rooms/a", by: 1, queue: 1, number: 1)])
      }
      _ = try await subject.answers(to: [subject.increment("rooms/a", by: 1, queue: 1, number: 2)])
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(last), "the field")
    },
    Contract("the numbers of different queues have nothing to do with each other") { subject in
      for queue in UInt8(1)...3 {
        _ = try await subject.answers(to: [subject.increment("rooms/a", by: 1, queue: queue, number: 1)])
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(3), "the field")
    },
    Contract("an identifier that no client makes is refused") { subject in
      let bad = [
        WriteRequestID(queue: [], number: 1), WriteRequestID(queue: [UInt8](repeating: 1, count: 65), number: 1),
        WriteRequestID(queue: [UInt8](repeating: 1, count: 16), number: 0),
      ]
      for id in bad {
        try await expectRefusal(.invalidArgument, of: "the identifier \(id)") {
          try await subject.answers(to: [WriteRequest(writes: [subject.set("rooms/a")], id: id)])
        }
      }
      try expect(try await subject.get("rooms/a") == nil, "a request with a bad identifier was applied")
    },
  ]
}

extension FirestoreSubject {
  fileprivate func requestID(queue: UInt8, number: Int64) -> WriteRequestID {
    WriteRequestID(queue: [UInt8](repeating: queue, count: 16), number: number)
  }

  fileprivate func increment(_ path: String, by amount: Int64, queue: UInt8, number: Int64) -> WriteRequest {
    let transform = FieldTransform(fieldPath: "n", .increment(.integer(amount)))
    return WriteRequest(
      writes: [Write(.transform(name: name(path), transforms: [transform]))],
      id: requestID(queue: queue, number: number))
  }

  /// Returns the answers to requests that are sent in a separate call.
  fileprivate func answers(to requests: [WriteRequest]) async throws -> [WriteResponse] {
    let call = try await backend.write(database: database, context: context)
    call.send(WriteRequest(database: database))
    for request in requests { call.send(request) }
    call.finish()
    var responses: [WriteResponse] = []
    for try await batch in call.responses { responses += batch }
    return Array(responses.dropFirst())
  }
}
