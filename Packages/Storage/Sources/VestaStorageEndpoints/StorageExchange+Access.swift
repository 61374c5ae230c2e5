import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// Access lists and policies in Google's JSON.
///
/// Rules decide about users, and Google's API is that of owners. A server for development serves the public URL of an
/// object to every caller: an access list says so there, and changes of one have no effect, as in the emulator. Any
/// other server answers as Google for a bucket with uniform bucket-level access, which has no access lists.
extension StorageExchange {
  func accessList(_ name: ObjectName) async throws -> HTTPResponse {
    try checkAccessLists()
    return json(AccessWire.publicList(of: try await found(name), project: host.defaultProject))
  }

  func grant(_ name: ObjectName) async throws -> HTTPResponse {
    try checkAccessLists()
    let entry = try JSONObject(json: try await document(), limits: MetadataWire.limits)
    guard let entity = entry["entity"]?.string, let role = entry["role"]?.string else {
      throw StorageServiceError(.invalidArgument, "An entry of an access list has an entity and a role.")
    }
    return json(AccessWire.entry(of: try await found(name), entity: entity, role: role))
  }

  func withdraw(_ name: ObjectName) async throws -> HTTPResponse {
    try checkAccessLists()
    _ = try await found(name)
    return HTTPResponse(.noContent)
  }

  func policy(_ bucket: String) async throws -> HTTPResponse {
    try await checkBucket(bucket)
    return json(AccessWire.policy(of: bucket, project: host.defaultProject))
  }

  /// Owners may do everything.
  func permissions(_ bucket: String, _ names: [String]) async throws -> HTTPResponse {
    try await checkBucket(bucket)
    return json(AccessWire.permissions(names))
  }

  /// Makes or revokes a download token, which owners alone do, whatever rules let users write.
  func changeTokens(of name: ObjectName, _ action: DownloadTokenAction) async throws -> HTTPResponse {
    try await checkOwner(name.bucket)
    return object(try await backend.changeDownloadTokens(name, action, context: context))
  }

  /// Refuses callers who are no owners.
  ///
  /// Owners see the buckets, and nobody else does. A service without buckets decides about its callers by itself.
  private func checkOwner(_ bucket: String) async throws {
    guard let admin = try? host.backend((any StorageAdminBackend).self, project: host.project(of: bucket)) else {
      return
    }
    do {
      _ = try await admin.listBuckets(context: context)
    } catch let error as StorageServiceError where error.code == .permissionDenied {
      throw StorageServiceError(.permissionDenied, StorageFailure.noOwner)
    }
  }

  /// Refuses an upload or a change that sets an access list, where there is none.
  func checkAccess(in body: [UInt8] = []) throws {
    guard route.api == .google, !host.isDevelopment else { return }
    let predefined = parameter("predefinedAcl") ?? parameter("destinationPredefinedAcl")
    if predefined != nil || setsAccessList(in: body) { try checkAccessLists() }
  }

  /// Whether a body has an access list with an entry.
  func setsAccessList(in body: [UInt8]) -> Bool {
    guard route.api == .google else { return false }
    return (try? JSONObject(json: body, limits: MetadataWire.limits))?["acl"]?.array?.isEmpty == false
  }

  private func checkAccessLists() throws {
    guard !host.isDevelopment else { return }
    throw StorageServiceError(
      .invalidArgument, "Cannot use ACLs when uniform bucket-level access is enabled: rules decide about access.")
  }

  private func found(_ name: ObjectName) async throws -> StorageObject {
    let found = try await backend.getObject(name, preconditions: route.preconditions, context: context)
    try check(found)
    return found
  }
}
