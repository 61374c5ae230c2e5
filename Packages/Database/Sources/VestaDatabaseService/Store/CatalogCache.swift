import VestaConcurrency
import VestaStoreInterop

/// The catalog of the indexes as it was read last.
///
/// Every transaction reads the row, which is the truth and changes under it with another engine; only decoding it again
/// is saved.
final class CatalogCache: Sendable {
  private let last = Locked<(bytes: [UInt8], catalog: IndexCatalog)?>(nil)

  func read(_ reader: any StoreReader, _ keys: Keys) async throws -> IndexCatalog {
    guard let bytes = try await reader.get(keys.catalog()) else { return IndexCatalog() }
    if let known = last.withLock({ $0?.bytes == bytes ? $0?.catalog : nil }) { return known }
    let catalog = try IndexCatalog(bytes)
    last.withLock { $0 = (bytes, catalog) }
    return catalog
  }

  /// Writes the catalog, if it is another one; a database that never had an index has no row.
  func write(_ catalog: IndexCatalog, _ transaction: any StoreTransaction, _ keys: Keys) async throws {
    let bytes = catalog.bytes
    guard catalog != IndexCatalog(), try await transaction.get(keys.catalog()) != bytes else { return }
    try await transaction.put(bytes, for: keys.catalog())
  }
}
