package import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The bundles that were loaded, and the queries they brought.
package struct BundleCache: Sendable {
  /// A bundle that was loaded.
  package struct Bundle: Sendable, Hashable {
    /// Its name.
    package let id: UTF8String
    /// The format.
    package let version: Int
    /// When it was made.
    package let createTime: Timestamp

    /// A bundle.
    package init(id: UTF8String, version: Int, createTime: Timestamp) {
      self.id = id
      self.version = version
      self.createTime = createTime
    }
  }

  /// A query of a bundle.
  package struct NamedQuery: Sendable, Hashable {
    /// Its name.
    package let name: UTF8String
    /// The query.
    package let query: LocalQuery
    /// The snapshot that its results are from.
    package let readTime: Timestamp

    /// A named query.
    package init(name: UTF8String, query: LocalQuery, readTime: Timestamp) {
      self.name = name
      self.query = query
      self.readTime = readTime
    }
  }

  /// The bundles by name.
  package var bundles: [UTF8String: Bundle] = [:]
  /// The queries by name.
  package var queries: [UTF8String: NamedQuery] = [:]

  /// Whether bytes begin with the metadata of a bundle that has been loaded, so that nothing of them is read.
  package func has(_ bytes: [UInt8], of database: DatabaseName) -> Bool {
    var reader = BundleReader(bytes, database: database)
    guard case .metadata(let metadata)?? = try? reader.next()?.element else { return false }
    return has(metadata.bundle)
  }

  /// The query that a bundle brought under a name.
  package func query(named name: String) -> LocalQuery? { queries[UTF8String(name)]?.query }

  /// Whether a bundle, or a later one of its name, has been loaded.
  func has(_ bundle: Bundle) -> Bool { bundles[bundle.id].map { $0.createTime >= bundle.createTime } ?? false }

  /// A cache without bundles.
  package init() {}
}
