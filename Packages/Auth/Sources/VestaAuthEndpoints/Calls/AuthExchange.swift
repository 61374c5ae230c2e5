import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// One call: whose it is, which project it is about, and what it says.
struct AuthExchange: Sendable {
  let host: any EndpointHost
  /// The address that the client has used: `http://127.0.0.1:9099`.
  let origin: String
  let project: String
  /// Whether the project is the default one because nothing names another.
  let namesNoProject: Bool
  var context: CallContext
  /// The query of the target; empty for none.
  let query: String
  let body: [UInt8]
  /// The body as an object; empty for none and for forms.
  let object: JSONObject

  var client: any AuthBackend {
    get throws { try host.backend((any AuthBackend).self, project: project) }
  }

  var admin: any AuthAdminBackend {
    get throws { try host.backend((any AuthAdminBackend).self, project: project) }
  }

  /// Whether the SDK for the web calls, in a page or in Node.
  var isFromWeb: Bool { context.clientFields?.clientVersion?.contains("/JsCore/") ?? false }

  /// Whether the caller sent a credential, and so makes the calls of an owner.
  var isOwners: Bool { context.caller != .nobody }

  func publicKeys() async throws -> PublicKeysResponse { try await client.publicKeys(context: context) }

  func certificates() async throws -> CertificatesResponse { try await client.certificates(context: context) }

  /// A link of a message: in development to the page of this server, at the address that the client has used.
  func link(_ link: String) -> String {
    guard host.isDevelopment, let query = link.firstIndex(of: "?") else { return link }
    let other = project == host.defaultProject ? "" : "&projectId=\(PercentEncoding.unreserved.encode(project))"
    return "\(origin)/emulator/action\(link[query...])\(other)"
  }

  // MARK: Bodies

  func read<Schema: ProtobufSchema>(_ schema: Schema.Type) throws -> Schema.Message {
    try Schema.message(json: .object(object), ignoresUnknownNames: true)
  }

  func read<Conversion: ProtobufConversion>(_ conversion: Conversion.Type) throws -> Conversion.Value {
    try Conversion.value(json: .object(object), ignoresUnknownNames: true)
  }

  // MARK: Calls

  /// Makes the call, as an owner's where there are two of one name.
  func respond(to call: AuthRoute.Call) async throws -> [UInt8] {
    if isOwners, let response = try await respondToOwner(call) { return response }
    return try await respondToClient(call)
  }
}
