import Testing
import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaStorageService

@Suite struct ListingMachineTests {
  /// The content of a listing by its definition: every name with the prefix, grouped by its first delimiter.
  static func model(_ names: [String], _ request: ListRequest) -> (items: [String], prefixes: [String]) {
    var items: [String] = []
    var prefixes: [String] = []
    for name in names.sorted(by: UTF8Order.precedes) where name.hasPrefix(request.prefix) {
      let rest = name.dropFirst(request.prefix.count)
      if let delimiter = request.delimiter, let range = rest.firstRange(of: delimiter) {
        let prefix = String(name[..<range.upperBound])
        if prefixes.last != prefix { prefixes.append(prefix) }
      } else {
        items.append(name)
      }
    }
    return (items, prefixes)
  }

  @Test func `pages add up to what the definition says`() {
    for seed in 0..<500 as Range<UInt64> {
      var random = SplitMix(seed: seed)
      let names = Set(
        (0..<30).map { _ in
          (0..<1 + random.below(5)).map { _ in ["a", "b", "/", "/", "é"][random.below(5)] }.joined()
        }
      ).sorted(by: UTF8Order.precedes)
      var request = ListRequest(bucket: "b", prefix: ["", "a", "a/"][random.below(3)])
      request.delimiter = random.oneIn(4) ? nil : "/"
      request.maximumResults = 1 + random.below(5)
      var items: [String] = []
      var prefixes: [String] = []
      var start: String? = ""
      while let from = start {
        start = nil
        var machine = ListingMachine(request)
        var skip: String?
        for name in names where !UTF8Order.precedes(name, from) && name.hasPrefix(request.prefix) {
          if let skip, name.hasPrefix(skip) { continue }
          switch machine.visit(name) {
          case .item: items.append(name)
          case .skip(let prefix): skip = prefix
          case .full(let next): start = next
          }
          if start != nil { break }
        }
        prefixes += machine.prefixes
      }
      let expected = Self.model(names, request)
      #expect(items == expected.items && prefixes == expected.prefixes, "seed \(seed)")
    }
  }
}

@Suite struct RulesTests {
  static let name = ObjectName(bucket: "bucket", name: "a/ö b.txt")

  @Test(arguments: ["ab", "", "A-bucket", "b/c", ".abc", "abc.", "ä-bucket", String(repeating: "x", count: 223)])
  func `bucket names that cannot be are refused`(bucket: String) {
    #expect(throws: StorageServiceError.self) { try ObjectNameRules.check(bucket: bucket) }
  }

  @Test(arguments: ["abc", "my_bucket-1.appspot.com", String(repeating: "x", count: 222)])
  func `bucket names that can be are accepted`(bucket: String) throws {
    try ObjectNameRules.check(bucket: bucket)
  }

  @Test func `a new generation gets a type, a disposition and its tokens`() throws {
    let (metadata, tokens) = try MetadataRules.prepared(
      ObjectMetadata(custom: [MetadataRules.tokenKey: "t1,t2", "k": "v"]), for: Self.name)
    #expect(metadata.contentType == "application/octet-stream")
    #expect(metadata.contentDisposition == "inline; filename*=utf-8''%C3%B6%20b.txt")
    #expect(metadata.custom == ["k": "v"])
    #expect(tokens == ["t1", "t2"])
  }

  @Test func `a new generation by the API of Google gets a type alone`() throws {
    let (metadata, _) = try MetadataRules.prepared(ObjectMetadata(), for: Self.name, fillsIn: false)
    #expect(metadata == ObjectMetadata(contentType: "application/octet-stream"))
  }

  @Test func `metadata beyond its limits is refused`() {
    #expect(throws: StorageServiceError.self) {
      try MetadataRules.prepared(ObjectMetadata(custom: ["k": String(repeating: "x", count: 8192)]), for: Self.name)
    }
    #expect(throws: StorageServiceError.self) {
      try MetadataRules.prepared(ObjectMetadata(contentType: "text/plain\r\nX-Evil: 1"), for: Self.name)
    }
  }

  @Test func `preconditions compare generations, and 0 is an object that is not there`() throws {
    var record = ObjectRecord()
    record.generation = 5
    record.metageneration = 2
    try PreconditionRules.check(.none, nil)
    try PreconditionRules.check(Preconditions(ifGenerationMatch: 0), nil)
    try PreconditionRules.check(Preconditions(ifGenerationMatch: 5, ifMetagenerationMatch: 2), record)
    for wrong in [
      Preconditions(ifGenerationMatch: 0), Preconditions(ifGenerationNotMatch: 5),
      Preconditions(ifMetagenerationMatch: 1), Preconditions(ifMetagenerationNotMatch: 2),
    ] {
      #expect { try PreconditionRules.check(wrong, record) } throws: {
        ($0 as? StorageServiceError)?.reason == .precondition
      }
    }
  }

  @Test func `a page token of another listing is refused`() throws {
    let request = ListRequest(bucket: "bucket", prefix: "a/")
    let token = ListToken.token(from: "a/b", of: request)
    #expect(try ListToken.name(token, of: request) == "a/b")
    for other in [ListRequest(bucket: "other"), ListRequest(bucket: "bucket", prefix: "b/")] {
      #expect(throws: StorageServiceError.self) { try ListToken.name(token, of: other) }
    }
    var random = SplitMix(seed: 3)
    for _ in 0..<1000 {
      let text = String(decoding: random.bytes(random.below(20)), as: UTF8.self)
      #expect(throws: StorageServiceError.self) { try ListToken.name(text, of: request) }
    }
  }
}

@Suite struct RecordTests {
  @Test func `records are read as they were written`() throws {
    var object = ObjectRecord()
    object.generation = 7
    object.size = 1 << 40
    object.crc32c = Int64(UInt32.max)
    object.md5 = [1, 2]
    object.metadata = MetadataRecord(ObjectMetadata(contentType: "a/b", custom: ["x": "", "": "y"]))
    object.downloadTokens = ["a", ""]
    object.blob = "b"
    #expect(try ObjectRecord(fieldBytes: object.fieldBytes()) == object)
    var upload = UploadRecord()
    upload.bucket = "b"
    upload.size = 0
    upload.state = .final
    upload.object = object
    #expect(try UploadRecord(fieldBytes: upload.fieldBytes()) == upload)
  }

  @Test func `damaged records are errors, not crashes`() throws {
    var random = SplitMix(seed: 17)
    var upload = UploadRecord()
    upload.object = ObjectRecord()
    upload.object?.metadata = MetadataRecord(ObjectMetadata(custom: ["a": "b"]))
    let bytes = try upload.fieldBytes()
    for _ in 0..<5000 {
      var damaged = bytes
      for _ in 0...random.below(3) where !damaged.isEmpty {
        damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = try? UploadRecord(fieldBytes: Array(damaged.prefix(random.below(damaged.count + 1))))
    }
  }

  @Test func `keys of a bucket's objects are in the order of their names`() throws {
    let names = ["", "a", "a/", "a/b", "aé", "b"]
    let keys = names.map { Keys.object(ObjectName(bucket: "bucket", name: $0)) }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    for (name, key) in zip(names, keys) {
      #expect(try Keys.objectName(key) == ObjectName(bucket: "bucket", name: name))
      #expect(Keys.objects(in: "bucket", prefix: "a/").contains(key) == name.hasPrefix("a/"))
    }
  }
}
