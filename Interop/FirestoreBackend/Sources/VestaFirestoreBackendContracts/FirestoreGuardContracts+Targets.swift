import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaTesting

extension FirestoreGuardContracts {
  static let targets: [Contract<GuardedFirestoreSubject>] = [
    Contract("a target is asked about when it is added, and a denied one ends alone") { subject in
      let engine = try await subject.prepared { question in
        switch question.subject {
        case .get(let name, let document): name.hasSuffix("/a") && document != nil
        case .list(let query): query.query.limit == 3
        case .commit: false
        }
      }
      var probe = try await ListenProbe(engine.subject, as: engine.eve)
      defer { probe.cancel() }
      var query = StructuredQuery.all("rooms")
      probe.add(Target(id: 1, .query(parent: engine.subject.root, query)))
      try await probe.removal(of: 1)
      probe.add(Target(id: 2, .documents([engine.name("rooms/a"), engine.name("rooms/x")])))
      try await probe.removal(of: 2)
      try expect(
        probe.changes.filter { $0.kind == .remove }.map(\.cause?.code), equals: [.permissionDenied, .permissionDenied],
        "the causes")
      try expect(probe.messages, equals: 0, "the documents of denied targets")
      query.limit = 3
      probe.add(Target(id: 3, .query(parent: engine.subject.root, query)))
      probe.add(Target(id: 4, .documents([engine.name("rooms/a")])))
      try await probe.current(3, 4)
      try expect(probe.fields(of: 3, in: engine.subject).count, equals: 1, "the documents of the query")
      try expect(probe.fields(of: 4, in: engine.subject).count, equals: 1, "the document")
    },
    Contract("a document that is followed is asked about at each change, and is not sent where it is denied") {
      subject in
      let engine = try await subject.prepared { question in
        guard case .get(_, let document) = question.subject else { return false }
        return document?.fields["open"] == .boolean(true)
      }
      var probe = try await ListenProbe(engine.subject, as: engine.eve)
      defer { probe.cancel() }
      probe.add(Target(id: 1, .documents([engine.name("rooms/a")])))
      try await probe.current(1)
      let change = engine.subject.set("rooms/a", ["n": .integer(2), "open": .boolean(true)])
      try await probe.snapshot(from: try await engine.subject.commit(change).commitTime)
      try expect(probe.fields(of: 1, in: engine.subject)["rooms/a"]?["n"], equals: .integer(2), "the field")
      let messages = probe.messages
      try await engine.subject.commit(engine.subject.set("rooms/a", ["n": .integer(3), "open": .boolean(false)]))
      try await probe.removal(of: 1)
      try expect(probe.changes.last?.cause?.code, equals: .permissionDenied, "the cause")
      try expect(probe.messages, equals: messages, "the messages")
    },
    Contract("of a document that leaves the results of a query the name alone is sent") { subject in
      let engine = try await subject.prepared { _ in true }
      let open = StructuredQuery.all("rooms", where: .field(path: "open", .equal, .boolean(true)))
      let call = try await engine.backend.listen(database: engine.database, context: engine.eve)
      let watchdog = Task {
        try await Task.sleep(for: subject.patience)
        call.cancel()
      }
      defer { watchdog.cancel() }
      call.send(.addTarget(Target(id: 1, .query(parent: engine.subject.root, open))))
      var hasLeft = false
      for try await batch in call.responses {
        for response in batch {
          switch response {
          case .targetChange(let change) where change.kind == .current:
            try await engine.subject.commit(engine.subject.set("rooms/a", ["open": .boolean(false)]))
          case .documentChange(let change):
            try expect(change.document.fields["open"], equals: .boolean(true), "the field of a document that is sent")
          case .documentRemove(let remove): hasLeft = remove.removedTargetIDs == [1]
          default: break
          }
        }
        if hasLeft { break }
      }
      call.cancel()
      try expect(hasLeft, "the document has not left")
    },
    Contract("targets are asked about again when the rules change") { subject in
      let engine = try await subject.prepared { _ in true }
      var probe = try await ListenProbe(engine.subject, as: engine.eve)
      defer { probe.cancel() }
      probe.add(Target(id: 1, .query(parent: engine.subject.root, .all("rooms"))))
      probe.add(Target(id: 2, .documents([engine.name("rooms/a")])))
      probe.add(Target(id: 3, .query(parent: engine.subject.root, .all("halls"))))
      try await probe.current(1, 2, 3)
      engine.gatekeeper.change { question in
        guard case .list(let query) = question.subject else { return false }
        return query.query.from[0].collectionID == "halls"
      }
      let messages = probe.messages
      try await engine.subject.commit(engine.subject.set("rooms/a", ["n": .integer(2)]))
      while probe.changes.filter({ $0.kind == .remove }).count < 2 { try await probe.anyRemoval() }
      let ends = probe.changes.filter { $0.kind == .remove }
      try expect(Set(ends.flatMap(\.targetIDs)), equals: [1, 2], "the targets that ended")
      try expect(ends.allSatisfy { $0.cause?.code == .permissionDenied }, "a target ended for another reason")
      try expect(probe.messages, equals: messages, "the messages")
      let last = try await engine.subject.commit(engine.subject.set("halls/h"))
      try await probe.snapshot(from: last.commitTime)
      try expect(probe.fields(of: 3, in: engine.subject).count, equals: 1, "the documents of the target that is left")
    },
  ]
}
