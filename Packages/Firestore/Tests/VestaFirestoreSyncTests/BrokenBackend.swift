import VestaFirestoreBackend
import VestaFirestoreBackendContracts

/// A backend that cannot read documents.
final class BrokenBackend: ForwardingFirestoreBackend {
  private static let error = FirestoreServiceError(.internal, "The disk is broken.")

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { DeadBackend() }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    throw Self.error
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    throw Self.error
  }
}
