import VestaServiceInterop
import VestaStorageBackend

/// The objects that uploads in parts keep until they end, and their names.
extension PartsExchange {
  func parts(of id: String) async throws -> [Int: StorageObject] {
    var found: [Int: StorageObject] = [:]
    let prefix = Self.prefix(of: id)
    var request = ListRequest(bucket: Self.bucket, prefix: prefix)
    repeat {
      let page = try await backend.listObjects(request, context: Self.context)
      for part in page.items {
        if let number = Int(part.name.name.dropFirst(prefix.count)), number > 0 { found[number] = part }
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    return found
  }

  func remove(_ id: String) async throws {
    for part in try await parts(of: id).values { try await remove(part.name) }
    try await remove(ObjectName(bucket: Self.bucket, name: Self.noteName(of: id)))
  }

  private func remove(_ part: ObjectName) async throws {
    do {
      try await backend.deleteObject(part, preconditions: .none, context: Self.context)
    } catch let error as StorageServiceError where error.code == .notFound {}
  }

  /// Removes parts whose uploads are over: a client that gives an upload up says nothing.
  ///
  /// - Parameter start: Ids are random: where the new one would be, so that all are looked at in time.
  func sweep(from start: String) async {
    let request = ListRequest(bucket: Self.bucket, startOffset: start)
    guard let page = try? await backend.listObjects(request, context: Self.context) else { return }
    var isOver: [Substring: Bool] = [:]
    for part in page.items {
      let id = part.name.name.prefix { $0 != "/" }
      if isOver[id] == nil { isOver[id] = await isUploadOver(String(id)) }
      if isOver[id] == true { try? await remove(part.name) }
    }
  }

  func isUploadOver(_ id: String) async -> Bool {
    do {
      return try await backend.uploadStatus(UploadID(rawValue: id), context: Self.context).state == .final
    } catch {
      return (error as? StorageServiceError)?.reason == .uploadGone
    }
  }

  static func prefix(of id: String) -> String { "\(id)/" }

  /// The object that says what an upload is one of.
  static func noteName(of id: String) -> String { prefix(of: id) + text(0) }

  static func text(_ number: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
  }
}
