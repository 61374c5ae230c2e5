import Foundation
import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaFiles
import VestaServiceInterop
import VestaTransportInterop

/// Auth's part of an export: the settings of the project, and the accounts of the project and of each tenant.
///
/// Passwords are exported as Vesta's hashes, which Vesta imports. Tokens, codes and the settings of tenants have no
/// place in the layout.
struct AuthExportPart: ExportPart {
  let tuning: AuthExportTuning

  var product: String { "auth" }

  private static let folder = "auth_export"

  // MARK: Writing

  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    let admin = try host.backend((any AuthAdminBackend).self, project: project)
    let folder = "\(root)/\(Self.folder)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let config = ProjectConfigWire.emulatorJSON(of: try await admin.projectConfig(context: .owner))
    try Self.file("\(folder)/config.json") { try $0.write(config.json(), at: 0) }
    try await writeAccounts(of: nil, to: "\(folder)/accounts.json", admin)
    var token: String?
    repeat {
      let page = try await admin.listTenants(ListTenantsRequest(pageSize: 1_000, pageToken: token), context: .owner)
      for tenant in page.tenants {
        try await writeAccounts(of: tenant.tenantID, to: "\(folder)/accounts-\(tenant.tenantID).json", admin)
      }
      token = page.nextPageToken
    } while token != nil
    return ["path": .string(Self.folder)]
  }

  private func writeAccounts(of tenant: String?, to path: String, _ admin: any AuthAdminBackend) async throws {
    var context = CallContext.owner
    context.tenantID = tenant
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    var offset: Int64 = 0
    func append(_ bytes: [UInt8]) throws {
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
    try append(Array(#"{"kind":"identitytoolkit#DownloadAccountResponse","users":["#.utf8))
    var token: String?
    var isFirst = true
    repeat {
      let request = BatchGetRequest(
        maxResults: tuning.accountsPerPage, nextPageToken: token, hashForm: .text)
      let page = try await admin.batchGet(request, context: context)
      let users = try JSONObject(json: try BatchGetWire.json(of: page))["users"]?.array ?? []
      for user in users {
        try append((isFirst ? [] : [UInt8(ascii: ",")]) + user.json())
        isFirst = false
      }
      token = page.nextPageToken
    } while token != nil
    try append(Array("]}".utf8))
  }

  private static func file(_ path: String, _ body: (OpenFile) throws -> Void) throws {
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    try body(file)
  }

  // MARK: Reading

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    let admin = try host.backend((any AuthAdminBackend).self, project: project)
    let path = entry["path"]?.string ?? Self.folder
    let folder = path.hasPrefix("/") ? path : "\(root)/\(path)"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw ServiceStatus(.invalidArgument, "The folder \(folder) of the export cannot be read.")
    }
    // The suite starts without accounts then; with `--export-on-exit` an export without them would take its place.
    guard names.contains("accounts.json") else {
      throw ServiceStatus(
        .invalidArgument,
        """
        The export has no file \(folder)/accounts.json. Write {"users":[]} to it for no accounts, or take auth out of the \
        metadata.
        """)
    }
    try await readConfig(from: "\(folder)/config.json", admin)
    for name in names.sorted() where name.contains("accounts") && name.hasSuffix(".json") {
      let tenant = name.dropLast(5).replacing("accounts-", with: "").replacing("accounts", with: "")
      try await readAccounts(of: tenant.isEmpty ? nil : String(tenant), from: "\(folder)/\(name)", admin)
    }
  }

  private func readConfig(from path: String, _ admin: any AuthAdminBackend) async throws {
    guard let bytes = FileManager.default.contents(atPath: path) else { return }
    var config = try await admin.projectConfig(context: .owner)
    do {
      try ProjectConfigWire.merge(try JSONObject(json: Array(bytes)), into: &config)
    } catch {
      throw ServiceStatus(.invalidArgument, "\(path): \(error.message)")
    }
    try await admin.setProjectConfig(config, context: .owner)
  }

  private func readAccounts(of tenant: String?, from path: String, _ admin: any AuthAdminBackend) async throws {
    if let tenant { try await makeTenant(tenant, admin) }
    var context = CallContext.owner
    context.tenantID = tenant
    context.suppressesEvents = true
    let last: [JSONValue]
    do {
      last = try await readPages(of: path, tenant) { try await create($0, path, admin, context) }
    } catch let error as BytesError {
      throw ServiceStatus(.invalidArgument, "\(path): \(error.message)")
    }
    try await create(last, path, admin, context)
  }

  /// Reads the accounts of a file, and passes them on in pages.
  ///
  /// - Returns: The accounts of the last page.
  private func readPages(
    of path: String, _ tenant: String?, _ take: ([JSONValue]) async throws -> Void
  ) async throws -> [JSONValue] {
    let file = try OpenFile(reading: path)
    defer { file.close() }
    var accounts = AccountsFile()
    var page: [JSONValue] = []
    var offset: Int64 = 0
    while case let bytes = try file.read(at: offset, length: tuning.readLength), !bytes.isEmpty {
      offset += Int64(bytes.count)
      for account in try accounts.accounts(in: bytes) {
        page.append(.object(try Self.imported(account, tenant)))
        guard page.count == tuning.accountsPerPage else { continue }
        try await take(page)
        page = []
      }
    }
    try accounts.finish()
    return page
  }

  private static func imported(_ json: [UInt8], _ tenant: String?) throws -> JSONObject {
    var account = ExportedAccount.imported(try JSONObject(json: json))
    account["tenantId"] = tenant.map { .string($0) }
    return account
  }

  /// Makes a tenant that is not known: its settings are in no export, so everything is allowed in it.
  private func makeTenant(_ id: String, _ admin: any AuthAdminBackend) async throws {
    do {
      _ = try await admin.tenant(id: id, context: .owner)
    } catch let error where error.code == .tenantNotFound {
      _ = try await admin.createTenant(CreateTenantRequest(tenantID: id), context: .owner)
    }
  }

  /// Imports accounts; one that is refused is an error, and never silently missing.
  private func create(
    _ accounts: [JSONValue], _ path: String, _ admin: any AuthAdminBackend, _ context: CallContext
  ) async throws {
    guard !accounts.isEmpty else { return }
    let object: JSONObject = ["users": .array(accounts), "allowOverwrite": true]
    var request = try BatchCreateRequestWire.value(json: .object(object), ignoresUnknownNames: true)
    request.hash = .text
    let result = try await admin.batchCreate(request, context: context)
    if let failure = result.errors.first {
      let id = accounts.indices.contains(failure.index) ? accounts[failure.index].object?["localId"]?.string : nil
      throw ServiceStatus(.invalidArgument, "\(path): the account \(id ?? "") is refused: \(failure.message)")
    }
  }
}

/// The figures of exports and imports; small in tests.
struct AuthExportTuning: Sendable {
  /// The number of accounts that are read or imported at once, up to 1,000.
  var accountsPerPage = 500
  /// The number of bytes of a file that are read at once.
  var readLength = 1 << 20
}
