package import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// One element of a bundle.
package enum BundleElement: Sendable {
  case metadata(BundleMetadata)
  case namedQuery(BundleCache.NamedQuery)
  case documentMetadata(BundledDocument)
  case document(DocumentKey, Document)
}

/// The first element of a bundle, about the bundle itself.
package struct BundleMetadata: Sendable, Hashable {
  /// The name, format and time of the bundle.
  package let bundle: BundleCache.Bundle
  /// How many documents follow.
  package let totalDocuments: Int
  /// How many bytes follow the metadata.
  package let totalBytes: Int
}

/// The element of a bundle before the contents of a document.
package struct BundledDocument: Sendable, Hashable {
  /// The document.
  package let key: DocumentKey
  /// When it was read.
  package let readTime: Timestamp
  /// Whether it existed then.
  package let exists: Bool
  /// The named queries that it is a result of.
  package let queries: [UTF8String]
}

/// Reads a bundle: JSON texts, each after its length in bytes as a decimal number.
package struct BundleReader: Sendable {
  private let bytes: [UInt8]
  private let database: DatabaseName
  private var position = 0

  /// A reader of a whole bundle.
  package init(_ bytes: [UInt8], database: DatabaseName) {
    self.bytes = bytes
    self.database = database
  }

  /// The next element and its length in bytes; `nil` at the end.
  ///
  /// - Throws: `INVALID_ARGUMENT` for what is no bundle.
  package mutating func next() throws(FirestoreServiceError) -> (element: BundleElement, size: Int)? {
    guard position < bytes.count else { return nil }
    let start = position
    guard let length = readLength(), length <= bytes.count - position else {
      throw WireJSON.invalid("Reached the end of bundle when a length string or its content is expected.")
    }
    let text = Array(bytes[position..<(position + length)])
    position += length
    let json: JSONValue
    do { json = try JSONValue(json: text) } catch {
      throw WireJSON.invalid("Failed to parse string into json: \(error)")
    }
    return (try element(json), position - start)
  }

  private mutating func readLength() -> Int? {
    let digits = bytes[position...].prefix { (0x30...0x39).contains($0) }
    guard (1...10).contains(digits.count) else { return nil }
    position += digits.count
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private func element(_ json: JSONValue) throws(FirestoreServiceError) -> BundleElement {
    guard let member = json.object?.members.first, let content = member.value.object else {
      throw WireJSON.invalid("A bundle element must be an object with one member.")
    }
    switch member.name {
    case "metadata": return .metadata(try metadata(content))
    case "namedQuery": return .namedQuery(try namedQuery(content))
    case "documentMetadata": return .documentMetadata(try bundled(content))
    case "document":
      let document = try WireJSON.document(member.value)
      return .document(try key(of: document.name), document)
    default: throw WireJSON.invalid("Unrecognized BundleElement \"\(member.name)\".")
    }
  }

  private func metadata(_ json: JSONObject) throws(FirestoreServiceError) -> BundleMetadata {
    guard let id = json["id"]?.string, let time = json["createTime"] else {
      throw WireJSON.invalid("The metadata of a bundle need an id and a createTime.")
    }
    let version = json["version"].flatMap(WireJSON.integer) ?? 1
    guard version == 1 else { throw WireJSON.invalid("The bundle has version \(version); only version 1 is known.") }
    return BundleMetadata(
      bundle: BundleCache.Bundle(id: UTF8String(id), version: 1, createTime: try WireJSON.timestamp(time)),
      totalDocuments: Int(clamping: json["totalDocuments"].flatMap(WireJSON.integer) ?? 0),
      totalBytes: Int(clamping: json["totalBytes"].flatMap(WireJSON.integer) ?? 0))
  }

  private func namedQuery(_ json: JSONObject) throws(FirestoreServiceError) -> BundleCache.NamedQuery {
    guard let name = json["name"]?.string, let query = json["bundledQuery"], let time = json["readTime"] else {
      throw WireJSON.invalid("A named query needs a name, a bundledQuery and a readTime.")
    }
    return BundleCache.NamedQuery(
      name: UTF8String(name), query: try WireJSON.bundledQuery(query, in: database),
      readTime: try WireJSON.timestamp(time))
  }

  private func bundled(_ json: JSONObject) throws(FirestoreServiceError) -> BundledDocument {
    guard let name = json["name"]?.string, let time = json["readTime"] else {
      throw WireJSON.invalid("The metadata of a document need a name and a readTime.")
    }
    return BundledDocument(
      key: try key(of: name), readTime: try WireJSON.timestamp(time), exists: json["exists"]?.bool ?? false,
      queries: (json["queries"]?.array ?? []).compactMap { $0.string.map { UTF8String($0) } })
  }

  private func key(of name: String) throws(FirestoreServiceError) -> DocumentKey {
    let resource = try ResourceName(document: name, likely: database)
    guard resource.database == database else {
      throw WireJSON.invalid("The document \"\(name)\" is not of the database \(database).")
    }
    return resource.path
  }
}
