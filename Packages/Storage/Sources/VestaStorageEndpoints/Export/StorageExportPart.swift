import Foundation
import VestaBytes
import VestaCore
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// Storage's part of an export: the content of each object and its metadata, in two files of one name.
///
/// Generations and times begin with the import, as they do in the suite's emulator for content that is uploaded.
struct StorageExportPart: ExportPart {
  let tuning: StorageEndpointsTuning

  var product: String { "storage" }

  private static let folder = "storage_export"

  // MARK: Writing

  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    try await write(project: project, into: "\(root)/\(Self.folder)", in: host)
    return ["path": .string(Self.folder)]
  }

  /// Writes the buckets of all projects, as the suite does: a bucket is often not named after the project of its users.
  func write(project: String, into folder: String, in host: any EndpointHost) async throws {
    for name in ["blobs", "metadata"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    var buckets: [String] = []
    for project in [project] + host.projects.filter({ $0 != project }) {
      buckets += try await writeBuckets(of: project, to: folder, host)
    }
    let named = buckets.isEmpty ? ["\(project).appspot.com"] : buckets
    let list: JSONObject = ["buckets": .array(named.map { ["id": .string($0)] })]
    try Self.write(ExportText.json(list), to: "\(folder)/buckets.json")
  }

  /// Writes the objects of a project.
  ///
  /// - Returns: The buckets of the project.
  private func writeBuckets(
    of project: String, to folder: String, _ host: any EndpointHost
  ) async throws -> [String] {
    let backend = try host.backend((any StorageBackend).self, project: project)
    let admin = try host.backend((any StorageAdminBackend).self, project: project)
    // Parts of uploads that are not finished are no objects.
    let buckets = try await admin.listBuckets(context: .owner).filter { $0 != PartsBucket.name }
    for bucket in buckets {
      var request = ListRequest(bucket: bucket)
      repeat {
        let page = try await backend.listObjects(request, context: .owner)
        for object in page.items { try await write(object, to: folder, backend) }
        request.pageToken = page.nextPageToken
      } while request.pageToken != nil
    }
    return buckets
  }

  /// Writes the generation that is there now; an object that was deleted in the meantime is left out.
  private func write(_ listed: StorageObject, to folder: String, _ backend: any StorageBackend) async throws {
    let download: ObjectDownload
    do {
      download = try await backend.openObject(ReadRequest(object: listed.name), context: .owner)
    } catch let error as StorageServiceError where error.code == .notFound {
      return
    }
    defer { download.content.close() }
    let name = UUID().uuidString.lowercased()
    let file = try OpenFile(writing: "\(folder)/blobs/\(name)", .always, isPrivate: false)
    defer { file.close() }
    var offset: Int64 = 0
    while case let bytes = try await download.content.read(maximumLength: tuning.readLength), !bytes.isEmpty {
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
    try Self.write(ExportText.json(ExportedObject.json(of: download.object)), to: "\(folder)/metadata/\(name).json")
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    try file.write(bytes, at: 0)
  }

  // MARK: Reading

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    let path = entry["path"]?.string ?? Self.folder
    let folder = path.hasPrefix("/") ? path : "\(root)/\(path)"
    guard FileManager.default.fileExists(atPath: "\(folder)/buckets.json") else {
      throw ServiceStatus(.invalidArgument, "The export has no file \(folder)/buckets.json.")
    }
    for name in try Self.names(below: "\(folder)/metadata") where name.hasSuffix(".json") {
      let metadata = "\(folder)/metadata/\(name)"
      let blob = "\(folder)/blobs/\(name.dropLast(5))"
      guard FileManager.default.fileExists(atPath: blob) else {
        throw ServiceStatus(.invalidArgument, "The export has \(metadata), and no content \(blob).")
      }
      let request = try Self.upload(describedBy: metadata)
      // Where requests that name the bucket will look for it.
      let owner = host.project(of: request.object.bucket)
      let backend = try host.backend((any StorageBackend).self, project: owner)
      try await upload(request, from: blob, backend)
    }
  }

  private static func upload(describedBy path: String) throws(ServiceStatus) -> UploadRequest {
    do {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw BytesError(.malformed, "It cannot be read.")
      }
      return try ExportedObject.upload(try JSONObject(json: Array(bytes)))
    } catch {
      throw ServiceStatus(.invalidArgument, "\(path): \(error)")
    }
  }

  /// The paths of all files below a folder, relative to it: old exports have a folder for each bucket.
  private static func names(below folder: String) throws -> [String] {
    guard let all = FileManager.default.enumerator(atPath: folder) else { return [] }
    return all.compactMap { $0 as? String }.sorted()
  }

  /// Uploads a file; one that differs from its metadata, as files do that were edited by hand, as it is.
  private func upload(_ request: UploadRequest, from path: String, _ backend: any StorageBackend) async throws {
    var request = request
    (request.isContinuable, request.size) = (false, nil)
    do {
      do {
        try await send(request, expected: request.expected, from: path, backend)
      } catch let error as StorageServiceError where error.reason == .contentMismatch {
        log.warning(
          "I-STE000001", "\(request.object) is imported from \(path), which differs from its metadata: \(error.message)"
        )
        request.expected = ContentDigest()
        try await send(request, expected: ContentDigest(), from: path, backend)
      }
    } catch {
      throw ServiceStatus(.invalidArgument, "\(path) cannot be imported as \(request.object): \(error)")
    }
  }

  private func send(
    _ request: UploadRequest, expected: ContentDigest, from path: String, _ backend: any StorageBackend
  ) async throws {
    var context = CallContext.owner
    context.suppressesEvents = true
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let id = try await backend.startUpload(request, context: context)
    do {
      var offset: Int64 = 0
      while case let bytes = try file.read(at: offset, length: tuning.chunkLength), !bytes.isEmpty {
        _ = try await backend.appendToUpload(id, offset: offset, bytes: bytes, context: context)
        offset += Int64(bytes.count)
      }
      _ = try await backend.finalizeUpload(id, expected: expected, context: context)
    } catch {
      try? await backend.cancelUpload(id, context: context)
      throw error
    }
  }
}

/// The metadata of an object as the files of an export have it; pure.
enum ExportedObject {
  /// The members in the order in which the suite writes them.
  static func json(of object: StorageObject) -> JSONObject {
    var json = JSONObject()
    json["name"] = .string(object.name.name)
    json["bucket"] = .string(object.name.bucket)
    json["metageneration"] = .integer(object.metageneration)
    json["generation"] = .integer(object.generation)
    json["contentType"] = .string(object.metadata.contentType ?? "application/octet-stream")
    json["storageClass"] = "STANDARD"
    json["contentDisposition"] = object.metadata.contentDisposition.map { .string($0) }
    json["cacheControl"] = object.metadata.cacheControl.map { .string($0) }
    json["contentLanguage"] = object.metadata.contentLanguage.map { .string($0) }
    json["contentEncoding"] = object.metadata.contentEncoding.map { .string($0) }
    json["downloadTokens"] = .array(object.downloadTokens.map { .string($0) })
    json["etag"] = .string(etag(of: object))
    var custom = JSONObject()
    for (name, value) in object.metadata.custom.sorted(by: { $0.key < $1.key }) { custom[name] = .string(value) }
    json["customMetadata"] = .object(custom)
    json["timeCreated"] = .string(RFC3339.text(microseconds: object.timeCreated, digits: 3))
    json["updated"] = .string(RFC3339.text(microseconds: object.updated, digits: 3))
    json["size"] = .integer(object.size)
    json["md5Hash"] = object.md5.map { .string(Base64.standard.encode($0)) }
    json["crc32c"] = .string("\(object.crc32c)")
    return json
  }

  private static func etag(of object: StorageObject) -> String {
    let digest = SHA1.digest(Array("\(object.generation)/\(object.metageneration)".utf8))
    return String(Base64.standard.encode(digest).dropLast())
  }

  /// Reads the members.
  ///
  /// - Throws: `BytesError` with `.malformed` for an object without a name or with digests that are none.
  static func upload(_ json: JSONObject) throws(BytesError) -> UploadRequest {
    guard let name = json["name"]?.string, let bucket = json["bucket"]?.string else {
      throw BytesError(.malformed, "The object has no name or no bucket.")
    }
    let (metadata, tokens) = Self.metadata(json)
    guard let size = json["size"]?.integer ?? json["size"]?.string.flatMap({ Int64($0) }), size >= 0 else {
      throw BytesError(.malformed, "The object has no size.")
    }
    return UploadRequest(
      object: ObjectName(bucket: bucket, name: name), metadata: metadata, size: size,
      expected: try digest(json, size: size), downloadTokens: tokens.isEmpty ? .none : .these(tokens))
  }

  private static func metadata(_ json: JSONObject) -> (ObjectMetadata, tokens: [String]) {
    var metadata = ObjectMetadata(
      contentType: json["contentType"]?.string, cacheControl: json["cacheControl"]?.string,
      contentDisposition: json["contentDisposition"]?.string, contentEncoding: json["contentEncoding"]?.string,
      contentLanguage: json["contentLanguage"]?.string)
    var tokens = (json["downloadTokens"]?.array ?? []).compactMap(\.string)
    for member in json["customMetadata"]?.object?.members ?? [] {
      guard let value = member.value.string else { continue }
      if member.name == ObjectWire.tokensName {
        tokens += value.split(separator: ",").map(String.init)
      } else {
        metadata.custom[member.name] = value
      }
    }
    return (metadata, tokens)
  }

  private static func digest(_ json: JSONObject, size: Int64) throws(BytesError) -> ContentDigest {
    var digest = ContentDigest(size: size)
    if let text = json["crc32c"]?.string ?? json["crc32c"]?.integer.map(String.init) { digest.crc32c = UInt32(text) }
    if let text = json["md5Hash"]?.string { digest.md5 = try Base64.standard.decode(text) }
    return digest
  }
}

private let log = Logger(service: "VestaStorageEndpoints")
