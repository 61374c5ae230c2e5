import Foundation
import VestaBytes
import VestaCore
import VestaServiceInterop
import VestaTransportInterop

/// Exports a project to a directory in the layout of the Firebase CLI's suite, and imports such directories.
///
/// An export is written next to its place and moved there when it is complete (``ExportPlace``). A directory with
/// anything else in it is never replaced.
struct ExportDirectory: Sendable {
  let parts: [any ExportPart]
  let project: String
  let host: any EndpointHost
  /// The gate of the server, which all of its exports and imports share.
  let gate: ImportGate

  static let metadata = "firebase-export-metadata.json"

  /// The order in which the suite writes the entries.
  private static let order = ["firestore", "database", "auth", "storage"]

  // MARK: Exporting

  /// Exports.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - products: The products to export; `nil` for all.
  /// - Throws: ``ServerError``; an earlier file at the path is unchanged.
  func write(to path: String, products: Set<String>? = nil) async throws(ServerError) {
    let start = try gate.checkExport()
    let place = ExportPlace(path)
    try place.check()
    let chosen = parts.filter { products?.contains($0.product) ?? true }
    guard !chosen.isEmpty else { throw ServerError("No running product can be exported.") }
    let temporary: String
    do {
      temporary = try place.makeTemporary(isPrivate: !host.isDevelopment)
    } catch {
      throw ServerError("The export to \(place.path) failed: \(Self.sentence(of: error))")
    }
    do {
      try await write(chosen, into: temporary)
      if !host.isDevelopment { try Self.makePrivate(temporary) }
    } catch {
      place.discard(temporary)
      throw ServerError("The export to \(place.path) failed: \(Self.sentence(of: error))")
    }
    do throws(ServerError) {
      // An import that has begun meanwhile is in a part of what was written.
      try gate.checkExport(since: start)
    } catch {
      place.discard(temporary)
      throw error
    }
    try place.publish(temporary)
  }

  private func write(_ chosen: [any ExportPart], into directory: String) async throws {
    var metadata: JSONObject = ["version": .string("\(VestaVersion())")]
    let sorted = chosen.sorted { Self.place($0.product) < Self.place($1.product) }
    for part in sorted {
      var entry: JSONObject = ["version": .string("\(VestaVersion())")]
      for member in try await part.write(project: project, to: directory, in: host).members {
        entry[member.name] = member.value
      }
      metadata[part.product] = .object(entry)
    }
    // Last: a directory without it is no export.
    try Data(ExportText.json(metadata)).write(to: URL(filePath: "\(directory)/\(Self.metadata)"))
  }

  /// Takes files and folders away from other users, also for the time after they are copied elsewhere.
  private static func makePrivate(_ directory: String) throws {
    let entries = FileManager.default.enumerator(
      at: URL(filePath: directory), includingPropertiesForKeys: [.isDirectoryKey])
    for case let entry as URL in entries ?? .init() {
      let isDirectory = try entry.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
      try FileManager.default.setAttributes(
        [.posixPermissions: isDirectory ? 0o700 : 0o600], ofItemAtPath: entry.path(percentEncoded: false))
    }
  }

  private static func place(_ product: String) -> Int { order.firstIndex(of: product) ?? order.count }

  // MARK: Importing

  /// Imports.
  ///
  /// - Parameter path: The directory, with the metadata of the suite, or of an export of Firestore in production.
  /// - Throws: ``ServerError``; the data before the mistake is in the project.
  func read(from path: String) async throws(ServerError) {
    try await gate.importing { () throws(ServerError) in try await readParts(from: path) }
  }

  private func readParts(from path: String) async throws(ServerError) {
    let path = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
    let metadata = try Self.entries(in: path)
    for part in parts.sorted(by: { Self.place($0.product) < Self.place($1.product) }) {
      guard let entry = metadata[part.product]?.object else { continue }
      do {
        try await part.read(project: project, from: path, entry: entry, in: host)
      } catch {
        throw ServerError("The import of \(part.product) from \(path) failed: \(Self.sentence(of: error))")
      }
    }
    for member in metadata.members
    where member.name != "version" && !parts.contains(where: { $0.product == member.name }) {
      log.warning("I-SRV000006", "The export has \(member.name), which this server does not import.")
    }
  }

  /// The entries of the products.
  private static func entries(in path: String) throws(ServerError) -> JSONObject {
    if let bytes = FileManager.default.contents(atPath: "\(path)/\(metadata)") {
      guard let object = try? JSONObject(json: Array(bytes)) else {
        throw ServerError("\(path)/\(metadata) is not valid JSON.")
      }
      return object
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      throw ServerError("The directory \(path) cannot be read. Name an export with --import.")
    }
    if let name = names.sorted().first(where: { $0.hasSuffix(".overall_export_metadata") }) {
      return ["firestore": ["version": "prod", "path": ".", "metadata_file": .string(name)]]
    }
    throw ServerError("\(path) is no export: it has neither \(metadata) nor a file .overall_export_metadata.")
  }

  /// The sentence of an error, without the types around it.
  private static func sentence(of error: any Error) -> String {
    switch error {
    case let error as ServerError: error.description
    case let error as ServiceStatus: error.message
    case let error as any ServiceFailure: error.status.message
    case let error as CocoaError: sentence(of: error)
    default: "\(error)"
    }
  }

  /// The file and the words of the system, without the domains and codes around them.
  private static func sentence(of error: CocoaError) -> String {
    let error = error as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? NSError) ?? error
    let path = error.userInfo[NSFilePathErrorKey] as? String
    return [path, cause.localizedDescription].compactMap { $0 }.joined(separator: ": ")
  }
}

private let log = Logger(service: "VestaServer")
