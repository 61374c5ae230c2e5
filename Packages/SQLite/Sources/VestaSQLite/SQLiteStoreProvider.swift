public import VestaStoreInterop

/// Opens stores that are SQLite files.
public struct SQLiteStoreProvider: StoreProvider {
  /// A provider; it holds nothing.
  public init() {}

  /// Opens a store, and makes it when it is not there; see `StoreProvider`.
  ///
  /// - Parameters:
  ///   - name: The name of the content; the name of its directory.
  ///   - directory: The directory above.
  ///   - options: How the store is to behave.
  /// - Returns: The open store, a `SQLiteStore`; close it.
  /// - Throws: `StoreError` with the path and a hint.
  public func openStore(
    named name: String, in directory: String, options: StoreOptions
  ) async throws -> any OrderedStore {
    try await SQLiteStore.open(named: name, in: directory, options: options)
  }
}
