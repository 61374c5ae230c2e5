import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabase

/// Every call that waits ends its wait when its task is cancelled, with a service that never answers.
@Suite(.timeLimit(.minutes(5)))
struct CancellationTests {
  enum Member: String, CaseIterable, Sendable {
    case setValue, setValueAndPriority, setPriority, removeValue, updateChildValues, runTransactionBlock, getData
    case onDisconnectSetValue, onDisconnectSetValueAndPriority, onDisconnectRemoveValue, onDisconnectUpdateChildValues
    case cancelDisconnectOperations, observeSingleEvent, value, events, childEvents

    func call(_ place: DatabaseReference) async throws {
      switch self {
      case .setValue: try await place.setValue(1)
      case .setValueAndPriority: try await place.setValue(1, andPriority: 2)
      case .setPriority: try await place.setPriority(1)
      case .removeValue: try await place.removeValue()
      case .updateChildValues: try await place.updateChildValues(["a": 1])
      case .runTransactionBlock:
        _ = try await place.runTransactionBlock { data in
          data.value = 1
          return .success(withValue: data)
        }
      case .getData: _ = try await place.getData()
      case .onDisconnectSetValue: try await place.onDisconnectSetValue(1)
      case .onDisconnectSetValueAndPriority: try await place.onDisconnectSetValue(1, andPriority: 2)
      case .onDisconnectRemoveValue: try await place.onDisconnectRemoveValue()
      case .onDisconnectUpdateChildValues: try await place.onDisconnectUpdateChildValues(["a": 1])
      case .cancelDisconnectOperations: try await place.cancelDisconnectOperations()
      case .observeSingleEvent: _ = await place.observeSingleEventAndPreviousSiblingKey(of: .childAdded)
      case .value: for try await _ in place.child("empty").value {}
      case .events: for try await _ in place.child("empty").events() {}
      case .childEvents: for try await _ in place.child("empty").childEvents() {}
      }
    }

    /// Whether the call throws when it is cancelled; a loop over a stream ends, and one member cannot throw.
    var throwsWhenCancelled: Bool {
      switch self {
      case .observeSingleEvent, .value, .events, .childEvents: false
      default: true
      }
    }
  }

  /// When the task is cancelled: before it has begun, at once, when the service has been asked.
  enum Moment: CaseIterable, Sendable { case before, atOnce, waiting }

  @Test(arguments: Member.allCases, Moment.allCases)
  func `a call whose task is cancelled waits no longer and leaves nothing behind`(
    member: Member, moment: Moment
  ) async {
    let backend = ScriptedDatabaseBackend()
    var environment = Repo.Environment(backend: backend)
    environment.readTime = .seconds(3600)
    let client = World.client(environment)
    let place = client.reference(withPath: "a")
    let gate = Gate(isOpen: moment != .before)
    let call = Task {
      // The gate is not left by a cancellation: the call begins in a task that is cancelled.
      if moment == .before { while !Task.isCancelled { await Task.yield() } }
      await gate.wait()
      try await member.call(place)
    }
    if moment == .before { gate.open() }
    if moment == .waiting {
      let link = await backend.link(0)
      link.hello()
      await link.asked.wait { !$0.isEmpty }
    }
    call.cancel()
    let result = await call.result
    if member.throwsWhenCancelled {
      #expect(throws: CancellationError.self) { try result.get() }
    } else {
      #expect(throws: Never.self) { try result.get() }
    }
    let left = await withCheckedContinuation { continuation in
      client.repo.perform { repo in
        let own = Set(repo.transactions.map(\.observer))
        continuation.resume(returning: (repo.gets.count, repo.observers.keys.count { !own.contains($0) }))
      }
    }
    #expect(left == (0, 0))
    await client.shutDown()
  }
}
