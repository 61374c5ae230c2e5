import VestaServiceInterop
import VestaStorageBackend

/// The objects that uploads in parts keep until they end.
extension PartsExchange {
  func parts(of id: String) async throws -> [Int: StorageObject] {
    var found: [Int: StorageObject] = [:]
    let prefix = PartsBucket.prefix(of: id)
    var request = ListRequest(bucket: PartsBucket.name, prefix: prefix)
    repeat {
      let page = try await backend.listObjects(request, context: PartsBucket.context)
      for part in page.items {
        if let number = Int(part.name.name.dropFirst(prefix.count)), number > 0 { found[number] = part }
      }
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    return found
  }

  func remove(_ id: String) async throws {
    for part in try await parts(of: id).values { try await remove(part.name) }
    try await remove(PartsBucket.note(of: id))
  }

  private func remove(_ part: ObjectName) async throws {
    do {
      try await backend.deleteObject(part, preconditions: .none, context: PartsBucket.context)
    } catch let error as StorageServiceError where error.code == .notFound {}
  }

  /// Removes parts whose uploads are over: a client that gives an upload up says nothing.
  ///
  /// - Parameter start: Ids are random: where the new one would be, so that all are looked at in time.
  func sweep(from start: String) async {
    let request = ListRequest(bucket: PartsBucket.name, startOffset: start)
    guard let page = try? await backend.listObjects(request, context: PartsBucket.context) else { return }
    var isOver: [Substring: Bool] = [:]
    for part in page.items {
      let id = part.name.name.prefix { $0 != "/" }
      if isOver[id] == nil { isOver[id] = await PartsBucket.isUploadOver(String(id), in: backend) }
      if isOver[id] == true { try? await remove(part.name) }
    }
  }
}
