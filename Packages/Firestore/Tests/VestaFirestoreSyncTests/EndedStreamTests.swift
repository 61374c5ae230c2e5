import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreSync

/// Watch streams that the backend ends without an error, as it does when it restarts.
@Suite(.timeLimit(.minutes(15)))
struct EndedStreamTests {
  /// A backend that ends its first listen call on demand.
  private final class EndingBackend: ForwardingFirestoreBackend {
    private let engine: any FirestoreBackend
    private let ends = Locked<[@Sendable () -> Void]>([])

    init(_ engine: any FirestoreBackend) { self.engine = engine }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

    /// Ends the listen calls that are open.
    func endCalls() {
      for end in ends.withLock({ ends in
        defer { ends = [] }
        return ends
      }) { end() }
    }

    func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
      let call = try await engine.listen(database: database, context: context)
      let (responses, outgoing) = call.relayedResponses { batch, outgoing in outgoing.yield(batch) }
      ends.withLock { $0.append { outgoing.finish() } }
      return ListenCall(
        responses: responses, send: { call.send($0) }, finish: { call.finish() }, cancel: { call.cancel() })
    }
  }

  @Test func `a stream that ends without an error is opened again`() async throws {
    let world = World()
    let backend = EndingBackend(world.engine)
    let client = world.client(of: backend)
    let other = world.client()
    try await other.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions()) { received.receive($0) }
    _ = try await received.first { $0.ids == ["a"] && !$0.isFromCache }
    backend.endCalls()
    try await other.write([set("rooms/b", ["n": .integer(1)])]).acknowledged()
    #expect(try await received.first { $0.ids == ["a", "b"] && !$0.isFromCache }.documents.count == 2)
    registration.remove()
    await client.shutdown()
    await other.shutdown()
  }
}
