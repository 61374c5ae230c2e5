import Foundation
import VestaBytes
import VestaConcurrency

extension StorageMetadata {
  /// Metadata of a dictionary with the service's names, such as ``dictionaryRepresentation()`` returns.
  ///
  /// Values of other types are taken as absent; integers can be numbers or strings.
  ///
  /// - Parameter dictionary: The names and values.
  public convenience init(dictionary: [String: AnyHashable]) {
    func text(_ key: String) -> String? { dictionary[key] as? String }
    func number(_ key: String) -> Int64 {
      if let value = dictionary[key] as? String { return Int64(value) ?? 0 }
      if let value = dictionary[key] as? Int64 { return value }
      return (dictionary[key] as? Int).map(Int64.init) ?? 0
    }
    let settable = Settable(
      cacheControl: text("cacheControl"), contentDisposition: text("contentDisposition"),
      contentEncoding: text("contentEncoding"), contentLanguage: text("contentLanguage"),
      contentType: text("contentType"), custom: dictionary["metadata"] as? [String: String])
    self.init(
      Fields(
        bucket: text("bucket") ?? "", path: text("name"), settable: settable, md5Hash: text("md5Hash"),
        generation: number("generation"), metageneration: number("metageneration"), size: number("size"),
        timeCreated: text("timeCreated").flatMap(MetadataDate.date),
        updated: text("updated").flatMap(MetadataDate.date),
        downloadTokens: (text("downloadTokens") ?? "").split(separator: ",").map(String.init), original: settable))
  }

  /// The metadata with the service's names; absent properties are left out.
  public func dictionaryRepresentation() -> [String: AnyHashable] {
    let fields = fields.withLock { $0 }
    var dictionary: [String: AnyHashable] = [:]
    func put(_ key: String, _ value: String?) { if let value { dictionary[key] = value } }
    put("bucket", fields.bucket)
    put("cacheControl", fields.settable.cacheControl)
    put("contentDisposition", fields.settable.contentDisposition)
    put("contentEncoding", fields.settable.contentEncoding)
    put("contentLanguage", fields.settable.contentLanguage)
    put("contentType", fields.settable.contentType)
    put("md5Hash", fields.md5Hash)
    put("name", fields.path)
    put("timeCreated", fields.timeCreated.map(MetadataDate.text))
    put("updated", fields.updated.map(MetadataDate.text))
    if fields.size != 0 { dictionary["size"] = fields.size }
    if fields.generation != 0 { dictionary["generation"] = "\(fields.generation)" }
    if fields.metageneration != 0 { dictionary["metageneration"] = "\(fields.metageneration)" }
    if let custom = fields.settable.custom { dictionary["metadata"] = custom }
    return dictionary
  }
}

/// Dates as the service writes them: `2026-11-21T23:00:00.000Z`, always with milliseconds; pure.
enum MetadataDate {
  static func text(_ date: Date) -> String {
    RFC3339.text(microseconds: Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0, digits: 3)
  }

  static func date(_ text: String) -> Date? {
    guard text.utf8.count == 24, let time = RFC3339.microseconds(of: text) else { return nil }
    return Date(timeIntervalSince1970: Double(time) / 1_000_000)
  }
}
