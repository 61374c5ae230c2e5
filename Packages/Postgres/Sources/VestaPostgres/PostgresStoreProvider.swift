import VestaConcurrency
import VestaCore
public import VestaStoreInterop

/// Opens stores in a PostgreSQL database, each in a separate schema.
///
/// One process opens a store once; any number of processes may have it open.
public struct PostgresStoreProvider: StoreProvider {
  private let options: PostgresOptions
  private let open = Locked<Set<[String]>>([])
  private let isNoted = Locked(false)

  /// A provider; it connects when a store is opened.
  ///
  /// - Parameter options: Where the stores are.
  public init(options: PostgresOptions = PostgresOptions()) { self.options = options }

  /// Any number of processes may have a store open.
  public var sharesStores: Bool { true }

  /// Opens a store, and makes it when it is not there; see `StoreProvider`.
  ///
  /// - Parameters:
  ///   - name: The name of the content.
  ///   - directory: Distinguishes stores of one name, unless the options name a space.
  ///   - options: Durability and clock; `overwritesDeleted` is the server's affair, and ignored.
  /// - Returns: The open store, a `PostgresStore`; close it.
  /// - Throws: `StoreError` with a hint.
  public func openStore(
    named name: String, in directory: String, options: StoreOptions
  ) async throws -> any OrderedStore {
    guard StoreLimits.isValidName(name) else { throw invalidName(name) }
    let space = self.options.space ?? environmentValue("VESTA_POSTGRES_SPACE")
    if space == nil { noteDirectory(directory) }
    let (names, place) = (open, [space ?? directory, name])
    guard names.withLock({ $0.insert(place).inserted }) else {
      throw StoreError(
        .alreadyOpen, operation: "open", message: "This process has the store \"\(name)\" open already.",
        hint: "Share the open store, or close it first.")
    }
    do {
      return try await PostgresStore.open(
        named: name, in: place[0], options: self.options, storeOptions: options, followsServer: true,
        onClose: { names.withLock { _ = $0.remove(place) } })
    } catch {
      names.withLock { _ = $0.remove(place) }
      throw error
    }
  }

  private func invalidName(_ name: String) -> StoreError {
    StoreError(
      .invalidName, operation: "open",
      message: "A store cannot have this name: \(name.debugDescription.prefix(120)).",
      hint: "Use 1 to 100 of the letters a-z and A-Z, digits, '-', '_' and '.', and no dot at the beginning.")
  }

  /// Says once that other processes find these stores only with the same data directory.
  private func noteDirectory(_ directory: String) {
    let isFirst = isNoted.withLock { isNoted in
      defer { isNoted = true }
      return !isNoted
    }
    guard isFirst else { return }
    log.warning(
      "I-PGS000001",
      """
      The stores belong to the data directory \(directory): a process with another one finds none of them. Set \
      PostgresOptions.space, or VESTA_POSTGRES_SPACE, to the same name in all processes of the app.
      """)
  }
}

private let log = Logger(service: "VestaPostgres")
