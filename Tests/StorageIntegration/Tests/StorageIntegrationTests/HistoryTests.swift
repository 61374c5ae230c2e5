import Foundation
import StorageHarness
import Testing
import VestaBytes
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

/// Random histories of the whole service, step by step compared with an ``ObjectModel``.
@Suite struct HistoryTests {
  @Test(arguments: 0..<12 as Range<UInt64>)
  func `a random history does what the model does`(seed: UInt64) async throws {
    let directory = try TemporaryDirectory()
    var history = try History(seed: seed, directory: directory.path)
    for step in 0..<250 {
      do {
        try await history.step()
      } catch {
        Issue.record("seed \(seed), step \(step): \(history.last): \(error)")
        break
      }
    }
    await history.harness.app.delete()
  }
}

private struct Difference: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

private struct History {
  static let names = [
    "a", "a/", "a//b", "a/b", "a/b/c", "a/b/d", "ab", "b", "é", "e\u{301}", "a/\u{301}x", "a/\u{301}x/y", "😀/x", "%2F",
    "a%2Fb", "a/../b", "..a", "a\u{1}", "a\u{FFFF}", "\u{FEFF}a", " ", "a b", "A", "zz/\u{301}", "zz/\u{301}/1",
    "zz/a", String(repeating: "é", count: 512), "aé/b", "ae\u{301}/b", ".well-known/x",
  ]
  static let prefixes = ["", "a", "a/", "a//", "é", "e", "zz/", "zz", "😀", "nothing", "a/b/"]
  static let delimiters: [String?] = [nil, "/", "/", "/", "//", "b", "\u{301}", "é", ""]

  var harness: StorageHarness
  private var random: SplitMix
  private var model = ObjectModel()
  private let directory: String
  private let context = CallContext()
  private(set) var last = ""

  init(seed: UInt64, directory: String) throws {
    random = SplitMix(seed: seed)
    self.directory = directory
    harness = try StorageHarness(directory: directory, name: "history\(seed)", inlineLimit: 2000)
  }

  private var backend: any StorageBackend { harness.engine }

  mutating func step() async throws {
    switch random.below(16) {
    case 0, 1, 2: try await put()
    case 3: try await start()
    case 4, 5, 6: try await append()
    case 7: try await finalize()
    case 8: try await cancel()
    case 9: try await delete()
    case 10: try await update()
    case 11, 12: try await read()
    case 13, 14: try await list()
    default: if random.oneIn(4) { try await restart() } else { try await get() }
    }
  }

  // MARK: Choices

  private mutating func name() -> String { Self.names[random.below(Self.names.count)] }

  private func object(_ name: String) -> ObjectName { ObjectName(bucket: "test-bucket", name: name) }

  private mutating func content() -> [UInt8] {
    let lengths = [0, 1, 100, 1999, 2000, 2001, 5000, 65_537]
    return random.bytes(lengths[random.below(lengths.count)])
  }

  private mutating func preconditions(_ name: String) -> Preconditions {
    guard random.oneIn(2) else { return .none }
    let current = model.objects[ObjectModel.Key(name)]
    let generations = [0, current?.generation ?? 0, current?.generation ?? 7, 7]
    let metagenerations: [Int64] = [0, current?.metageneration ?? 0, 1, 2]
    var conditions = Preconditions()
    switch random.below(4) {
    case 0: conditions.ifGenerationMatch = generations[random.below(4)]
    case 1: conditions.ifGenerationNotMatch = generations[random.below(4)]
    case 2: conditions.ifMetagenerationMatch = metagenerations[random.below(4)]
    default: conditions.ifMetagenerationNotMatch = metagenerations[random.below(4)]
    }
    return conditions
  }

  // MARK: Calls

  private func code(_ operation: () async throws -> Void) async throws -> ServiceCode? {
    do {
      try await operation()
      return nil
    } catch let error as StorageServiceError {
      return error.code
    }
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Difference(what()) }
  }

  private mutating func put() async throws {
    let (name, content) = (name(), content())
    let conditions = preconditions(name)
    last = "put \(name.debugDescription) \(content.count) \(conditions)"
    let isAllowed = model.allows(conditions, name)
    var request = UploadRequest(object: object(name), preconditions: conditions)
    request.metadata.custom = ["step": "\(content.count)"]
    do {
      let made = try await backend.putObject(request, content: content, context: context)
      try expect(isAllowed, "was done")
      try note(made, content)
    } catch let error as StorageServiceError {
      try expect(!isAllowed && error.code == .failedPrecondition, "\(error)")
    }
  }

  private mutating func note(_ made: StorageObject, _ content: [UInt8]) throws {
    try expect(made.generation > model.lastGeneration, "generation \(made.generation) after \(model.lastGeneration)")
    try expect(made.metageneration == 1 && made.size == Int64(content.count), "\(made)")
    var checksum = CRC32C()
    checksum.update(content)
    try expect(made.crc32c == checksum.value, "checksum")
    model.lastGeneration = made.generation
    model.objects[ObjectModel.Key(made.name.name)] = ObjectModel.Object(
      content: content, generation: made.generation, metageneration: 1, custom: made.metadata.custom,
      contentType: made.metadata.contentType ?? "")
  }

  private mutating func start() async throws {
    let name = name()
    let conditions = preconditions(name)
    last = "start \(name.debugDescription) \(conditions)"
    let isAllowed = model.allows(conditions, name)
    do {
      let id = try await backend.startUpload(
        UploadRequest(object: object(name), preconditions: conditions), context: context)
      try expect(isAllowed, "was done")
      model.uploads.append(ObjectModel.Upload(id: id, name: name, preconditions: conditions))
    } catch let error as StorageServiceError {
      try expect(!isAllowed && error.code == .failedPrecondition, "\(error)")
    }
  }

  private mutating func append() async throws {
    guard !model.uploads.isEmpty else { return }
    let index = random.below(model.uploads.count)
    let (upload, bytes) = (model.uploads[index], content())
    let shift: Int64 = random.oneIn(4) ? Int64(random.below(5)) - 2 : 0
    last = "append \(upload.id) \(upload.content.count)\(shift) \(bytes.count)"
    let failed = try await code {
      let status = try await backend.appendToUpload(
        upload.id, offset: Int64(upload.content.count) + shift, bytes: bytes, context: context)
      try expect(status.received == Int64(upload.content.count + bytes.count), "\(status)")
    }
    if upload.isOver { return try expect(failed == .notFound, "append to an upload that is over: \(failed as Any)") }
    try expect(failed == (shift == 0 ? nil : .outOfRange), "\(failed as Any)")
    if failed == nil { model.uploads[index].content += bytes }
  }

  private mutating func finalize() async throws {
    guard !model.uploads.isEmpty else { return }
    let index = random.below(model.uploads.count)
    let upload = model.uploads[index]
    let isWrong = random.oneIn(6)
    last = "finalize \(upload.id) \(upload.name.debugDescription) \(isWrong ? "wrong" : "right") \(upload.isOver)"
    let expected = ContentDigest(size: Int64(upload.content.count) + (isWrong ? 1 : 0))
    let isAllowed = model.allows(upload.preconditions, upload.name)
    model.uploads.remove(at: index)
    do {
      let made = try await backend.finalizeUpload(upload.id, expected: expected, context: context)
      try expect(!upload.isOver && !isWrong && isAllowed, "was done")
      try note(made, upload.content)
      let again = try await backend.finalizeUpload(upload.id, expected: expected, context: context)
      try expect(again.generation == made.generation, "finalized twice")
    } catch let error as StorageServiceError {
      if upload.isOver { return try expect(error.code == .notFound, "\(error)") }
      if isWrong { return try expect(error.code == .dataLoss, "\(error)") }
      try expect(!isAllowed && error.code == .failedPrecondition, "\(error)")
    }
  }

  private mutating func cancel() async throws {
    guard !model.uploads.isEmpty else { return }
    let index = random.below(model.uploads.count)
    last = "cancel \(model.uploads[index].id)"
    try await backend.cancelUpload(model.uploads[index].id, context: context)
    model.uploads[index].isOver = true
  }

  private mutating func delete() async throws {
    let name = name()
    let conditions = preconditions(name)
    last = "delete \(name.debugDescription) \(conditions)"
    let isAllowed = model.allows(conditions, name)
    let isThere = model.objects[ObjectModel.Key(name)] != nil
    let failed = try await code {
      try await backend.deleteObject(object(name), preconditions: conditions, context: context)
    }
    guard isThere else { return try expect(failed == .notFound, "\(failed as Any)") }
    try expect(failed == (isAllowed ? nil : .failedPrecondition), "\(failed as Any)")
    if isAllowed { model.objects[ObjectModel.Key(name)] = nil }
  }

  private mutating func update() async throws {
    let name = name()
    let conditions = preconditions(name)
    let value = "\(random.below(1000))"
    var change = MetadataChange()
    change.contentType = .set(value)
    change.custom = random.oneIn(5) ? .remove : .set(["v": random.oneIn(3) ? nil : value])
    last = "update \(name.debugDescription) \(conditions) \(change.custom)"
    let isAllowed = model.allows(conditions, name)
    guard var wanted = model.objects[ObjectModel.Key(name)] else {
      let failed = try await code {
        _ = try await backend.updateObject(object(name), change: change, preconditions: conditions, context: context)
      }
      return try expect(failed == .notFound, "\(failed as Any)")
    }
    wanted.metageneration += 1
    wanted.contentType = value
    switch change.custom {
    case .set(let values): for (name, value) in values { wanted.custom[name] = value }
    default: wanted.custom = [:]
    }
    do {
      let made = try await backend.updateObject(
        object(name), change: change, preconditions: conditions, context: context)
      try expect(isAllowed, "was done")
      try expect(
        made.metageneration == wanted.metageneration && made.metadata.custom == wanted.custom
          && made.generation == wanted.generation, "\(made)")
      model.objects[ObjectModel.Key(name)] = wanted
    } catch let error as StorageServiceError {
      try expect(!isAllowed && error.code == .failedPrecondition, "\(error)")
    }
  }

  private mutating func get() async throws {
    let name = name()
    last = "get \(name.debugDescription)"
    let wanted = model.objects[ObjectModel.Key(name)]
    do {
      let found = try await backend.getObject(object(name), preconditions: .none, context: context)
      try expect(
        found.generation == wanted?.generation && found.metageneration == wanted?.metageneration
          && found.metadata.custom == wanted?.custom && found.metadata.contentType == wanted?.contentType, "\(found)")
      try expect(Array(found.name.name.utf8) == Array(name.utf8), "the name")
    } catch let error as StorageServiceError {
      try expect(wanted == nil && error.code == .notFound, "\(error)")
    }
  }

  private mutating func read() async throws {
    let name = name()
    let wanted = model.objects[ObjectModel.Key(name)]
    let offset = random.below((wanted?.content.count ?? 0) + 3)
    let length = random.oneIn(2) ? nil : Int64(random.below(70_000))
    last = "read \(name.debugDescription) \(offset) \(length as Any)"
    do {
      let download = try await backend.openObject(
        ReadRequest(object: object(name), offset: Int64(offset), length: length), context: context)
      var bytes: [UInt8] = []
      while true {
        let next = try await download.content.read(maximumLength: 1 + random.below(40_000))
        if next.isEmpty { break }
        bytes += next
      }
      let expected = wanted.map { Array($0.content.dropFirst(offset).prefix(Int(length ?? .max))) }
      try expect(bytes == expected && offset <= wanted?.content.count ?? -1, "\(bytes.count) bytes")
    } catch let error as StorageServiceError {
      if wanted == nil { return try expect(error.code == .notFound, "\(error)") }
      try expect(error.code == .outOfRange && offset > wanted?.content.count ?? .max, "\(error)")
    }
  }

  private mutating func list() async throws {
    let prefix = Self.prefixes[random.below(Self.prefixes.count)]
    let delimiter = Self.delimiters[random.below(Self.delimiters.count)]
    let size = [1, 2, 3, 7, 1000][random.below(5)]
    last = "list \(prefix.debugDescription) \(delimiter.debugDescription) \(size)"
    var request = ListRequest(bucket: "test-bucket", prefix: prefix, delimiter: delimiter, maximumResults: size)
    var pages = model.listing(prefix: prefix, delimiter: delimiter, pageSize: size)[...]
    repeat {
      let page = try await backend.listObjects(request, context: context)
      let wanted = pages.popFirst() ?? ([], [])
      try expect(page.items.map { Array($0.name.name.utf8) } == wanted.items, "items \(page.items.map(\.name.name))")
      try expect(page.prefixes.map { Array($0.utf8) } == wanted.prefixes, "prefixes \(page.prefixes)")
      request.pageToken = page.nextPageToken
    } while request.pageToken != nil
    try expect(pages.isEmpty, "\(pages.count) pages are missing")
  }

  private mutating func restart() async throws {
    last = "restart"
    let name = harness.app.name
    await harness.app.delete()
    harness = try StorageHarness(directory: directory, name: name, inlineLimit: 2000)
    for upload in model.uploads where !upload.isOver {
      let status = try await backend.uploadStatus(upload.id, context: context)
      try expect(status.received == Int64(upload.content.count), "\(upload.id) has \(status.received)")
    }
  }
}
