import VestaBytes
public import VestaFirestoreBackend
import VestaFirestoreBackendFakes
public import VestaTesting

/// An engine under test that asks a guard.
public struct GuardedFirestoreSubject: Sendable {
  /// The time that a check waits for something that a call must send.
  public let patience: Duration
  let make: @Sendable (any FirestoreGuard) async throws -> any FirestoreBackend

  /// A subject.
  ///
  /// - Parameters:
  ///   - patience: How long a check waits for something that a call must send.
  ///   - make: Makes an engine with nothing in it that asks a guard.
  public init(
    patience: Duration = .seconds(300),
    _ make: @escaping @Sendable (any FirestoreGuard) async throws -> any FirestoreBackend
  ) {
    self.patience = patience
    self.make = make
  }

  /// An engine with the document `rooms/a` of Ada's, behind a guard that lets Ada do everything by her claims, and
  /// others nothing.
  func prepared(
    looksUp paths: [String] = [],
    _ answer: @escaping @Sendable (ManualFirestoreGuard.Question) throws -> Bool = {
      $0.uid == "ada" && $0.claims?["role"] == "keeper"
    }
  ) async throws -> GuardedFirestore {
    let root = "projects/contracts/databases/(default)/documents/"
    let gatekeeper = ManualFirestoreGuard(looksUp: paths.map { root + $0 }, answer)
    let subject = FirestoreSubject(try await make(gatekeeper), patience: patience)
    try await subject.commit(subject.set("rooms/a", ["n": .integer(1), "open": .boolean(true)]))
    return GuardedFirestore(gatekeeper: gatekeeper, subject: subject)
  }
}

/// The promises of an engine to its `FirestoreGuard`: it is asked about everything that leaves or changes documents.
public enum FirestoreGuardContracts {
  /// All of them.
  public static let all: [Contract<GuardedFirestoreSubject>] = reads + writes + targets
}

/// An engine of a check, with its guard.
struct GuardedFirestore {
  let gatekeeper: ManualFirestoreGuard
  let subject: FirestoreSubject

  var backend: any FirestoreBackend { subject.backend }
  var database: String { subject.database }
  var ada: CallContext { CallContext(caller: .user(VerifiedUser(uid: "ada", claims: ["role": "keeper"]))) }
  var eve: CallContext { CallContext(caller: .user(VerifiedUser(uid: "eve"))) }

  func name(_ path: String) -> String { subject.name(path) }

  func get(
    _ paths: [String], as context: CallContext, _ consistency: ReadConsistency = .latest, mask: DocumentMask? = nil
  ) async throws -> [Document] {
    var found: [Document] = []
    let request = BatchGetDocumentsRequest(
      database: database, documents: paths.map(name), mask: mask, consistency: consistency)
    try await backend.batchGet(request, context: context) { response in
      if case .found(let document)? = response.result { found.append(document) }
    }
    return found
  }

  func commit(_ writes: [Write], as context: CallContext) async throws -> CommitResponse {
    try await backend.commit(CommitRequest(database: database, writes: writes), context: context)
  }

  func expectDenied<Value>(
    _ what: String, file: String = #fileID, line: Int = #line, _ call: () async throws -> Value
  ) async throws {
    try await expectRefusal(.permissionDenied, of: what, file: file, line: line, call)
  }

  /// The question that was asked last.
  func last() throws -> ManualFirestoreGuard.Question {
    try expectValue(gatekeeper.asked.entries.last, "the question")
  }

  func expectLast(
    _ subject: ManualFirestoreGuard.Question.Subject, file: String = #fileID, line: Int = #line
  ) throws {
    try expect(try last().subject, equals: subject, "the question", file: file, line: line)
  }

  /// Checks that the last question is about a write that demands something of its document.
  func expectLast(demanding precondition: Precondition, file: String = #fileID, line: Int = #line) throws {
    guard case .commit(let writes) = try last().subject else {
      throw ContractViolation("no commit was asked about", file: file, line: line)
    }
    try expect(writes.map(\.precondition), equals: [precondition], "what is demanded", file: file, line: line)
  }
}
