import Testing
import VestaFirestoreBackend
import VestaFirestoreRemote
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

/// Calls whose connection is lost after they were sent.
@Suite struct LostCallTests {
  /// Clients send again what was unavailable, and what has added a number may not be sent again.
  @Test func `a change that may have happened says so, and other calls can be made again`() async throws {
    let remote = FirestoreRemote(on: try RESTService(CutClient(), at: "http://localhost", options: .owner))
    let write = Write.delete("\(database)/documents/rooms/a")
    let changes = [
      await failure { try await remote.commit(CommitRequest(database: database, writes: [write]), context: .owner) },
      await failure {
        try await remote.batchWrite(BatchWriteRequest(database: database, writes: [write]), context: .owner)
      },
    ]
    #expect(changes.map { $0?.code } == [.deadlineExceeded, .deadlineExceeded])
    let others = [
      await failure {
        try await remote.beginTransaction(BeginTransactionRequest(database: database), context: .owner)
      },
      await failure {
        let request = ListCollectionIDsRequest(parent: "\(database)/documents")
        return try await remote.listCollectionIDs(request, context: .owner)
      },
    ]
    #expect(others.map { $0?.code } == [.unavailable, .unavailable])
  }
}
