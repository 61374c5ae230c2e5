import VestaBytes
import VestaServiceInterop
import VestaStorageBackend

/// The object service as its documentation describes it: dictionaries and linear searches, nothing of the engine.
struct ObjectModel {
  /// A name as its bytes, so that canonical equivalence plays no part.
  struct Key: Hashable, Comparable {
    let bytes: [UInt8]
    init(_ name: String) { bytes = Array(name.utf8) }
    static func < (left: Key, right: Key) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
  }

  struct Object {
    var content: [UInt8]
    var generation: Int64
    var metageneration: Int64
    var custom: [String: String]
    var contentType: String
  }

  struct Upload {
    let id: UploadID
    let name: String
    let preconditions: Preconditions
    var content: [UInt8] = []
    var isOver = false
  }

  var objects: [Key: Object] = [:]
  var uploads: [Upload] = []
  var lastGeneration: Int64 = 0

  func allows(_ preconditions: Preconditions, _ name: String) -> Bool {
    let object = objects[Key(name)]
    let (generation, metageneration) = (object?.generation ?? 0, object?.metageneration ?? 0)
    if let wanted = preconditions.ifGenerationMatch, wanted != generation { return false }
    if let unwanted = preconditions.ifGenerationNotMatch, unwanted == generation { return false }
    if let wanted = preconditions.ifMetagenerationMatch, wanted != metageneration { return false }
    if let unwanted = preconditions.ifMetagenerationNotMatch, unwanted == metageneration { return false }
    return true
  }

  /// The entries of a listing, page after page: each is an item or a prefix.
  func listing(prefix: String, delimiter: String?, pageSize: Int) -> [(items: [[UInt8]], prefixes: [[UInt8]])] {
    let (prefix, mark) = (Array(prefix.utf8), Array((delimiter ?? "").utf8))
    var entries: [(isItem: Bool, bytes: [UInt8])] = []
    for key in objects.keys.sorted() where key.bytes.starts(with: prefix) {
      let rest = key.bytes.dropFirst(prefix.count)
      let cut = mark.isEmpty ? nil : rest.indices.first { rest[$0...].starts(with: mark) }
      guard let cut else {
        entries.append((true, key.bytes))
        continue
      }
      let common = Array(key.bytes[..<(cut + mark.count)])
      if entries.last?.isItem != false || entries.last?.bytes != common { entries.append((false, common)) }
    }
    return stride(from: 0, to: max(entries.count, 1), by: pageSize).map { start in
      let page = entries[start..<min(start + pageSize, entries.count)]
      return (page.filter(\.isItem).map(\.bytes), page.filter { !$0.isItem }.map(\.bytes))
    }
  }
}
