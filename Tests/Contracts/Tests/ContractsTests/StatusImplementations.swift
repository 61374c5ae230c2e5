import Testing
import VestaAppCheckBackend
import VestaAuthBackend
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaFunctionsBackend
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaStorageBackend
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Failures on their way: the error types of the products, and the two wires with both of their ends.
@Suite struct StatusImplementations {
  static let all: [Implementation<StatusAdapterSubject>] = [
    product(AppCheckServiceError.self), product(AuthServiceError.self), product(DatabaseServiceError.self),
    product(FirestoreServiceError.self), product(FunctionsServiceError.self), product(InstallationsServiceError.self),
    product(MessagingServiceError.self), product(RemoteConfigServiceError.self), product(StorageServiceError.self),
    Implementation("gRPC") { StatusAdapterSubject { GRPCError($0).status } },
    Implementation("gRPC over a network") { StatusAdapterSubject { try await overGRPC($0) } },
    Implementation("REST over a network") { StatusAdapterSubject { try await overREST($0) } },
  ]

  @Test(arguments: all)
  func `an adapter keeps every promise about failures`(_ implementation: Implementation<StatusAdapterSubject>) async {
    await implementation.keeps(StatusContracts.all)
  }

  private static func product<Failure: ServiceFailure>(_ type: Failure.Type) -> Implementation<StatusAdapterSubject> {
    Implementation("\(type)") { StatusAdapterSubject { Failure($0).status } }
  }

  private static func overREST(_ status: ServiceStatus) async throws -> ServiceStatus {
    let service = try await service(HTTPClosureHandler { _ in .response(.failure(status)) })
    let error = try await expectThrows(FirestoreServiceError.self, "the call") {
      try await RESTChannel<FirestoreServiceError>(service).call(RESTCall(.get, "/"), context: CallContext()) { _ in }
    }
    return error.status
  }

  private static func overGRPC(_ status: ServiceStatus) async throws -> ServiceStatus {
    let method = GRPCMethod.unary { _, _ in .task { throw FirestoreServiceError(status) } }
    let service = try await service(GRPCHandler(Service(method: method)))
    let channel = GRPCServiceChannel<FirestoreServiceError>(service)
    let call = GRPCCall("/t.T/Call", isRepeatable: true)
    let error = try await expectThrows(FirestoreServiceError.self, "the call") {
      try await channel.unary(call, context: CallContext(), { [] }, decode: { _ in })
    }
    return error.status
  }

  private struct Service: GRPCService {
    let method: GRPCMethod

    func method(at path: String) -> GRPCMethod? { method }
  }

  private static func service(_ handler: some HTTPHandler) async throws -> RESTService {
    let network = FakeNetwork()
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    return try RESTService(network, at: "http://localhost")
  }
}
