import VestaBytes
import VestaStorageBackend
import VestaStorageWire
import VestaTesting

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension SplitMix {
  mutating func text() -> String { pick(["a", "é/b", "\u{1F600}", "\"\\", "x y+z&%", "\u{0}\n", "<m>"]) }

  mutating func maybe() -> String? { oneIn(2) ? nil : text() }

  mutating func metadata() -> ObjectMetadata {
    ObjectMetadata(
      contentType: maybe(), cacheControl: maybe(), contentDisposition: maybe(), contentEncoding: maybe(),
      contentLanguage: maybe(), custom: oneIn(2) ? [:] : [text(): text(), "b": ""],
      customTime: oneIn(2) ? nil : Int64(below(1 << 50)))
  }

  mutating func digest() -> ContentDigest {
    ContentDigest(crc32c: oneIn(2) ? nil : UInt32(truncatingIfNeeded: next()), md5: oneIn(2) ? nil : bytes(16))
  }

  mutating func object() -> StorageObject {
    var metadata = metadata()
    metadata.contentType = metadata.contentType ?? "a/b"
    return StorageObject(
      name: ObjectName(bucket: "bucket", name: text()), generation: 1 + Int64(below(1 << 50)),
      metageneration: 1 + Int64(below(9)), size: Int64(below(1 << 40)), crc32c: UInt32(truncatingIfNeeded: next()),
      md5: oneIn(2) ? nil : bytes(16), timeCreated: 1_700_000_000_123_000, updated: Int64(below(1 << 40)) * 1_000,
      metadata: metadata, downloadTokens: pick([[], ["t"], ["t", "u"]]))
  }

  mutating func change() -> MetadataChange {
    func field(_ text: String, _ choice: Int) -> FieldChange<String> {
      choice == 0 ? .keep : choice == 1 ? .remove : .set(text)
    }
    var change = MetadataChange()
    change.contentType = field(text(), below(3))
    change.cacheControl = field(text(), below(3))
    change.contentDisposition = field(text(), below(3))
    change.contentEncoding = field(text(), below(3))
    change.contentLanguage = field(text(), below(3))
    change.customTime = pick([.keep, .remove, .set(Int64(below(1 << 50)))])
    change.custom = pick([.keep, .remove, .set([:]), .set(["a": .some(text()), "b": .none])])
    return change
  }

  mutating func route() -> StorageRoute {
    let object = ObjectName(bucket: "b", name: text())
    let preconditions = Preconditions(
      ifGenerationMatch: pick([nil, 0]), ifGenerationNotMatch: pick([nil, 3]), ifMetagenerationMatch: pick([nil, 4]),
      ifMetagenerationNotMatch: pick([nil, 5]))
    let list = ListRequest(
      bucket: "b", prefix: pick(["", text()]), delimiter: maybe(), startOffset: maybe(), endOffset: maybe(),
      maximumResults: 1 + below(1_000), pageToken: maybe())
    let upload = StorageRoute.Call.upload(
      bucket: "b", name: maybe(), pick([.media, .multipart, .resumable(id: nil), .resumable(id: "i")]))
    let shared: [StorageRoute.Call] = [.list(list), .get(object), .update(object), .delete(object), upload]
    let firebase: [StorageRoute.Call] = [
      .addToken(object), .revokeToken(object, "t"), .download(object, token: maybe()),
    ]
    let google: [StorageRoute.Call] = [
      .listBuckets, .bucket("b"), .createBucket, .deleteBucket("b"), .download(object, token: nil),
      .copy(object, to: ObjectName(bucket: "c", name: text()), isRewrite: oneIn(2)),
      .replace(object), .move(object, to: text()), .compose(object), .accessList(object), .grant(object),
      .withdraw(object), .policy("b"),
      .permissions("b", pick([[], ["a", "a.b"]])), .batch,
    ]
    let other = ObjectName(bucket: "upload", name: text())
    let xml: [StorageRoute.Call] = [
      .download(other, token: nil), .delete(other), .upload(bucket: "upload", name: text(), .media),
    ]
    switch below(3) {
    case 0:
      return StorageRoute(.firebase, pick(shared + firebase), preconditions: preconditions, generation: pick([nil, 7]))
    case 1:
      var route = StorageRoute(
        .google, pick(shared + google), preconditions: preconditions, generation: pick([nil, 7]))
      route.sourceGeneration = pick([nil, 8])
      route.sourcePreconditions = Preconditions(
        ifGenerationMatch: pick([nil, 9]), ifMetagenerationNotMatch: pick([nil, 2]))
      return route
    default: return StorageRoute(.xml, pick(xml), preconditions: preconditions, generation: pick([nil, 7]))
    }
  }

  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(3) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      default:
        bytes.insert(contentsOf: pick([utf8("{"), utf8("null"), utf8("\r\n--"), utf8("/"), utf8("=9")]), at: index)
      }
    }
    return bytes
  }
}
