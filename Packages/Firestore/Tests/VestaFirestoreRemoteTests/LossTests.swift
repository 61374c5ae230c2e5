import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The same service over connections that are delayed, arrive in pieces, and are cut at every byte.
@Suite(.timeLimit(.minutes(15))) struct LossTests {
  private typealias Script = ScriptedNetwork.Script

  private func serve(
    seed: UInt64 = 1, script: @escaping @Sendable (Int) -> Script = { _ in Script() }
  ) async throws -> Served {
    try await Served { ScriptedNetwork(to: $0, seed: seed, script: script) }
  }

  @Test(arguments: FirestoreContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<FirestoreSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      func conditions(_ random: inout SplitMix) -> ScriptedPipe.Conditions {
        ScriptedPipe.Conditions(
          latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(4) ? 1 + random.below(60) : nil)
      }
      return Script(fromClient: conditions(&random), fromServer: conditions(&random))
    }
    do {
      try await contract.verify(FirestoreSubject(served.remote))
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test func `a commit that is cut anywhere has happened once or not at all, and says so`() async throws {
    let increment = Write(
      .transform(
        name: database + "/documents/rooms/a", transforms: [FieldTransform(fieldPath: "n", .increment(.integer(1)))]))
    for isOfServer in [false, true] {
      for cut in stride(from: 0, through: 700, by: 11) {
        let served = try await serve { number in
          guard number == 0 else { return Script() }
          let lossy = ScriptedPipe.Conditions(largestPiece: 7, cutAfter: cut)
          return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
        }
        let error = await failure {
          try await served.remote.commit(CommitRequest(database: database, writes: [increment]), context: .owner)
        }
        let number = try await served.engine.document("rooms/a")?.fields["n"]
        switch error?.code {
        case nil: #expect(number == .integer(1), "cut after \(cut)")
        // A connection that was cut towards the server may have left its request there, and it runs on.
        case .deadlineExceeded?: #expect(number == nil || number == .integer(1), "cut after \(cut)")
        case let code?: Issue.record("cut after \(cut), \(isOfServer): \(code)")
        }
        try await served.engine.close()
      }
    }
  }

  @Test func `writes whose answers are lost are sent again and happen once`() async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      let lossy = ScriptedPipe.Conditions(largestPiece: 20, cutAfter: 100 + random.below(2_500))
      return random.oneIn(2) ? Script(fromClient: lossy) : Script(fromServer: lossy)
    }
    let count: Int64 = 60
    var answered: Int64 = 0
    var attempts = 0
    while answered < count {
      attempts += 1
      let call = try await served.remote.write(database: database, context: .owner)
      call.send(WriteRequest())
      for number in answered..<min(answered + WriteRequestID.window, count) {
        let write = Write(
          .transform(
            name: database + "/documents/rooms/a",
            transforms: [FieldTransform(fieldPath: "n", .increment(.integer(1)))]))
        let id = WriteRequestID(queue: [UInt8](repeating: 7, count: 16), number: number + 1)
        call.send(WriteRequest(writes: [write], id: id))
      }
      call.finish()
      let error = await failure {
        for try await batch in call.responses {
          for response in batch where response.commitTime != nil {
            answered += 1
            // The first answer, although it may be an answer to a repetition.
            #expect(response.writeResults.first?.transformResults == [.integer(answered)])
          }
        }
      }
      #expect(error == nil || error?.code == .unavailable, "seed \(seed): \(error?.description ?? "")")
    }
    #expect(try await served.engine.document("rooms/a")?.fields["n"] == .integer(count))
    #expect(attempts > count / WriteRequestID.window, "seed \(seed): nothing was cut")
    try await served.engine.close()
  }

  @Test func `a listener that is cut anywhere resumes and misses nothing`() async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      return Script(fromServer: .init(largestPiece: 50, cutAfter: 200 + random.below(3_000)))
    }
    let query = StructuredQuery(from: [.init(collectionID: "rooms")])
    var documents: [String: MapValue] = [:]
    var token: [UInt8]?
    for round in 0..<40 {
      try await served.engine.set("rooms/\(round % 7)", ["n": .integer(Int64(round))])
      let call = try await served.remote.listen(database: database, context: .owner)
      let subject = Target.Subject.query(parent: database + "/documents", query)
      call.send(.addTarget(Target(id: 2, subject, resume: token.map { .token($0) })))
      var pending = documents
      let error = await failure {
        for try await batch in call.responses {
          for response in batch {
            switch response {
            case .documentChange(let change): pending[change.document.name] = change.document.fields
            case .documentDelete(let delete): pending[delete.document] = nil
            case .targetChange(let change):
              if change.kind == .reset { pending = [:] }
              guard change.kind == .noChange, change.targetIDs.isEmpty, !change.resumeToken.isEmpty else { continue }
              (documents, token) = (pending, change.resumeToken)
              call.finish()
            default: break
            }
          }
        }
      }
      #expect(error == nil || error?.code == .unavailable, "seed \(seed): \(error?.description ?? "")")
      guard error == nil else { continue }
      #expect(documents[database + "/documents/rooms/\(round % 7)"] == ["n": .integer(Int64(round))], "seed \(seed)")
    }
    #expect(token != nil)
    try await served.engine.close()
  }
}
