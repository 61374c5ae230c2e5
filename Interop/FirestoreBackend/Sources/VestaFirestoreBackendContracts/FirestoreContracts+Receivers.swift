import VestaConcurrency
import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promises of listen calls that are read by a receiver besides a task that waits.
  public static let receivers: [Contract<FirestoreSubject>] = [
    Contract("a receiver and the task besides it get every batch once, in order") { subject in
      // None of them, half of them, all but the last one.
      for share in [0, 50, 100] {
        var probe = try await ListenProbe(subject)
        probe.add(Target(id: 2, .query(parent: subject.root, .all("rooms"))))
        try await probe.current(2)
        let writing = Task {
          var witness = try await ListenProbe(subject)
          witness.add(Target(id: 2, .query(parent: subject.root, .all("rooms"))))
          for number in 0..<40 {
            let fields: MapValue = ["n": .integer(Int64(share + number))]
            let commit = try await subject.commit(subject.set("rooms/\(number % 5)", fields))
            // So that each commit is a batch.
            try await witness.snapshot(from: commit.commitTime)
          }
          witness.cancel()
          try await subject.commit(subject.set("rooms/last-\(share)"))
        }
        try await probe.receive(upTo: subject.name("rooms/last-\(share)")) { Int.random(in: 0..<100) < share }
        try await writing.value
        let found = try await subject.query(.all("rooms"))
        let expected = Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) })
        try expect(probe.targets[2] ?? [:], equals: expected, "what is in, with a receiver of \(share) %")
        try expect(probe.repetitions, equals: 0, "what was sent twice, with a receiver of \(share) %")
        probe.cancel()
      }
    },
    Contract("a call with a receiver ends when it is cancelled") { subject in
      let call = try await subject.backend.listen(database: subject.database, context: subject.context)
      call.send(.addTarget(Target(id: 2, .query(parent: subject.root, .all("rooms")))))
      let waiting = Task {
        // Some batches may have been there before the receiver.
        while try await call.next(besides: { _ in true }) != nil {}
      }
      for _ in 0..<100 { await Task.yield() }
      call.cancel()
      try await waiting.value
    },
  ]
}
