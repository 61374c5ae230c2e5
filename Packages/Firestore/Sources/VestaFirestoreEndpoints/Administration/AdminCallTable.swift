import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// The calls of `google.firestore.admin.v1` and of `google.longrunning`, each for both wires.
struct AdminCallTable: Sendable {
  /// By the path of gRPC.
  private(set) var grpc: [String: GRPCMethod] = [:]
  /// By name.
  private(set) var rest: [String: CallTable.RESTCall] = [:]
  private let host: any EndpointHost

  /// The services whose methods these are.
  static let services = ["/google.firestore.admin.v1.FirestoreAdmin/", "/google.longrunning.Operations/"]

  init(_ host: any EndpointHost, _ tuning: FirestoreEndpointTuning) {
    self.host = host
    let admin = FirestoreAdministration(host, log: OperationLog(limit: tuning.operations))
    addIndexes(admin)
    addDatabases(admin)
    addOperations(admin)
  }

  private mutating func addIndexes(_ admin: FirestoreAdministration) {
    add("CreateIndex", CreateIndexRequestWire.self, OperationWire.self, \.parent, admin.createIndex)
    add("ListIndexes", PageRequestWire.self, ListIndexesResponseWire.self, \.parent, admin.listIndexes)
    add("GetIndex", NamedRequestWire.self, IndexWire.self, \.name, admin.index)
    add("DeleteIndex", NamedRequestWire.self, EmptyWire.self, \.name, admin.deleteIndex)
    add("GetField", NamedRequestWire.self, FieldWire.self, \.name, admin.field)
    add("ListFields", PageRequestWire.self, ListFieldsResponseWire.self, \.parent, admin.listFields)
    add("UpdateField", UpdateFieldRequestWire.self, OperationWire.self, \.field.name, admin.updateField)
  }

  private mutating func addDatabases(_ admin: FirestoreAdministration) {
    add("CreateDatabase", CreateDatabaseRequestWire.self, OperationWire.self, \.parent, admin.createDatabase)
    add("GetDatabase", NamedRequestWire.self, DatabaseWire.self, \.name, admin.database)
    add("ListDatabases", ListDatabasesRequestWire.self, ListDatabasesResponseWire.self, \.parent, admin.databases)
    add("UpdateDatabase", UpdateDatabaseRequestWire.self, OperationWire.self, \.database.name, admin.updateDatabase)
    add("BulkDeleteDocuments", BulkDeleteRequestWire.self, OperationWire.self, \.name, admin.bulkDelete)
    add("DeleteDatabase", NamedRequestWire.self, OperationWire.self, \.name, admin.deleteDatabase)
    add("ExportDocuments", ExportRequestWire.self, OperationWire.self, \.name, admin.exportDocuments)
    add("ImportDocuments", ImportRequestWire.self, OperationWire.self, \.name, admin.importDocuments)
  }

  private mutating func addOperations(_ admin: FirestoreAdministration) {
    let operations = Self.services[1]
    add("GetOperation", NamedRequestWire.self, OperationWire.self, \.name, admin.operation, in: operations)
    add("DeleteOperation", NamedRequestWire.self, EmptyWire.self, \.name, admin.deleteOperation, in: operations)
    add("CancelOperation", NamedRequestWire.self, EmptyWire.self, \.name, admin.cancelOperation, in: operations)
    add(
      "ListOperations", ListOperationsRequestWire.self, ListOperationsResponseWire.self, \.parent,
      admin.listOperations, in: operations)
  }

  /// Adds a call.
  ///
  /// - Parameters:
  ///   - name: The name of the method.
  ///   - requests: The statement of the request.
  ///   - responses: The statement of the response.
  ///   - resource: The resource name by which the project is found.
  ///   - serve: The work of the call.
  ///   - service: The path of the service.
  private mutating func add<Requests: ProtobufSchema, Responses: ProtobufSchema>(
    _ name: String, _ requests: Requests.Type, _ responses: Responses.Type,
    _ resource: @escaping @Sendable (Requests.Message) -> String,
    _ serve:
      @escaping @Sendable (
        Requests.Message, any FirestoreAdminBackend, CallContext
      ) async throws -> Responses.Message,
    in service: String = services[0]
  ) where Requests.Message: Sendable, Responses.Message: Sendable {
    let host = host
    let run: @Sendable (Requests.Message, CallTable.Calling) async throws -> Responses.Message = { request, calling in
      let project = try AdminName.project(of: resource(request))
      let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
      return try await serve(request, backend, calling(project))
    }
    grpc[service + name] = .unary { call, bytes in
      .task {
        try await failing {
          let request = try reading { () throws(BytesError) in try requests.message(from: bytes) }
          let response = try await run(request) { CallContext(grpc: call, project: $0) }
          return GRPCResponse(try responses.bytes(of: response))
        }
      }
    }
    rest[name] = { json, calling in
      let request = try reading { () throws(BytesError) in try requests.message(json: json) }
      return try responses.json(of: try await run(request, calling))
    }
  }
}
