import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension StorageExchange {
  // MARK: Metadata

  func get(_ name: ObjectName) async throws -> HTTPResponse {
    var found = try await backend.getObject(name, preconditions: route.preconditions, context: context)
    try check(found)
    try checkTags(found)
    if route.api == .firebase, found.downloadTokens.isEmpty {
      found = try await backend.changeDownloadTokens(name, .ensure, context: context)
    }
    return object(found)
  }

  func update(_ name: ObjectName) async throws -> HTTPResponse {
    let bytes = try await document()
    try checkAccess(in: bytes)
    let change = bytes.isEmpty ? MetadataChange() : try MetadataWire.change(json: bytes)
    try await checkGeneration(of: name)
    let changed = try await backend.updateObject(
      name, change: change, preconditions: try await preconditions(of: name), context: context)
    var resource = ObjectWire.object(of: changed, form: form, origin: origin)
    if setsAccessList(in: bytes) {
      resource["acl"] = AccessWire.publicList(of: changed, project: host.defaultProject)["items"]
    }
    return json(resource)
  }

  func list(_ list: ListRequest) async throws -> HTTPResponse {
    if route.api == .firebase, !list.prefix.isEmpty, !list.prefix.hasSuffix("/") {
      throw StorageServiceError(
        .invalidArgument,
        "The prefix parameter is required to be empty or ends with a single / character.")
    }
    let pattern = route.api == .google ? try parameter("matchGlob").map { try NamePattern($0) } : nil
    var page = try await backend.listObjects(list, context: context)
    if route.api == .google, page.items.isEmpty, page.prefixes.isEmpty { try await checkListed(list.bucket) }
    // No deleted object is kept.
    if route.api == .google, parameter("softDeleted") == "true" { page = ListPage() }
    if let pattern {
      page.items = try await Self.matching(pattern, page.items) { $0.name.name }
      page.prefixes = try await Self.matching(pattern, page.prefixes) { $0 }
    }
    // Clients make places of names, and there is none with an empty part.
    if route.api == .firebase {
      page.items.removeAll { !$0.name.name.isPlace }
      page.prefixes.removeAll { !($0.hasSuffix("/") ? String($0.dropLast()) : $0).isPlace }
    }
    return json(ListWire.json(of: page, form: form, origin: origin))
  }

  /// Refuses to list a bucket that there is not; callers who may not see the buckets find it empty.
  private func checkListed(_ bucket: String) async throws {
    do {
      try await checkBucket(bucket)
    } catch let error as StorageServiceError where error.code == .permissionDenied {}
  }

  /// The elements whose names match; other calls have their turns in between.
  private static func matching<Element>(
    _ pattern: NamePattern, _ list: [Element], _ name: (Element) -> String
  ) async throws -> [Element] {
    var found: [Element] = []
    for (index, element) in list.enumerated() {
      if index % 32 == 31 {
        try Task.checkCancellation()
        await Task.yield()
      }
      if pattern.matches(name(element)) { found.append(element) }
    }
    return found
  }

  /// Refuses an object of another generation than the request names, as one that is not there.
  func check(_ object: StorageObject) throws { try check(object, is: route.generation) }

  /// Refuses an object of another generation than a wanted one, as one that is not there.
  func check(_ object: StorageObject, is wanted: Int64?) throws {
    guard let generation = wanted, generation != object.generation else { return }
    throw StorageServiceError(.notFound, "No such object: \(object.name.bucket)/\(object.name.name)#\(generation)")
  }

  // MARK: Conditions

  /// Refuses an object that `if-match` does not name, or that `if-none-match` names.
  func checkTags(_ object: StorageObject) throws {
    let tag = ObjectWire.etag(of: object)
    guard field("if-match").map({ $0.listsTag(tag) }) ?? true,
      !(field("if-none-match").map { $0.listsTag(tag) } ?? false)
    else { throw Self.unmetCondition }
  }

  static let unmetCondition = StorageServiceError(
    .failedPrecondition, "At least one of the pre-conditions you specified did not hold.", reason: .precondition)

  /// The conditions of a change: where the request names tags, those of the object that has them now.
  func preconditions(of name: ObjectName) async throws -> Preconditions {
    guard field("if-match") != nil || field("if-none-match") != nil else { return route.preconditions }
    let found = try await backend.getObject(name, preconditions: route.preconditions, context: context)
    try checkTags(found)
    return Preconditions(ifGenerationMatch: found.generation, ifMetagenerationMatch: found.metageneration)
  }

  /// The conditions of an upload: where the request names tags, those of the object that has them now, or of none.
  func preconditions(ofUpload name: ObjectName) async throws -> Preconditions {
    // Users upload what they may not read: their API has no such conditions.
    guard route.api != .firebase, field("if-match") != nil || field("if-none-match") != nil else {
      return route.preconditions
    }
    do {
      return try await preconditions(of: name)
    } catch let error as StorageServiceError where error.code == .notFound {
      guard field("if-match") == nil else { throw Self.unmetCondition }
      return Preconditions(ifGenerationMatch: 0)
    }
  }

  /// Refuses a bucket by its metageneration, which stays the first one.
  func checkBucketConditions() throws {
    let wanted = route.preconditions
    guard wanted.ifMetagenerationMatch ?? 1 == 1, wanted.ifMetagenerationNotMatch != 1 else {
      throw Self.unmetCondition
    }
  }

  /// Looks at the generation that a change names; the change itself holds for it too.
  func checkGeneration(of name: ObjectName) async throws {
    guard route.generation != nil else { return }
    try check(try await backend.getObject(name, preconditions: .none, context: context))
  }
}

extension String {
  /// Whether every part of a name between slashes has a character.
  fileprivate var isPlace: Bool {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
  }

  /// Whether a list of tags, with quotation marks or without, has a tag.
  fileprivate func listsTag(_ tag: String) -> Bool {
    split(separator: ",").contains { entry in
      let name = entry.drop { $0 == " " }.prefix { $0 != " " }
      let plain = (name.hasPrefix("W/") ? name.dropFirst(2) : name).filter { $0 != "\"" }
      return plain == "*" || plain == tag
    }
  }
}
