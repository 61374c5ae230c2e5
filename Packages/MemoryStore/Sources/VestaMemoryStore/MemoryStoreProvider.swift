import VestaConcurrency
public import VestaStoreInterop

/// Opens stores in memory.
///
/// Nothing outlives its store: opening a name again after `close` opens an empty store. The directory only
/// distinguishes one name from another; nothing is made there. Names of different providers are independent.
public struct MemoryStoreProvider: StoreProvider {
  // The stores that are open, as directory and name.
  private let open = Locked<Set<[String]>>([])

  /// A provider with no store open.
  public init() {}

  /// Opens an empty store.
  ///
  /// - Parameters:
  ///   - name: Letters, digits, `-`, `_` and `.`, at most 100, not beginning with a dot.
  ///   - directory: Only distinguishes stores of one name.
  ///   - options: Its clock is used; durability has no meaning in memory.
  /// - Returns: The open store; the caller closes it.
  /// - Throws: `StoreError.Code.invalidName`, or `.alreadyOpen` while a store of this name is open.
  public func openStore(
    named name: String,
    in directory: String,
    options: StoreOptions
  ) async throws -> any OrderedStore {
    guard StoreLimits.isValidName(name) else { throw invalidName(name, in: directory) }
    let (names, place) = (open, [directory, name])
    guard names.withLock({ $0.insert(place).inserted }) else { throw alreadyOpen(name, in: directory) }
    return MemoryStore(clock: options.clock, onClose: { names.withLock { _ = $0.remove(place) } })
  }

  private func invalidName(_ name: String, in directory: String) -> StoreError {
    StoreError(
      .invalidName,
      operation: "open",
      path: directory,
      message: "A store cannot have this name: \(name.debugDescription.prefix(120)).",
      hint: "Use 1 to 100 of the letters a-z and A-Z, digits, '-', '_' and '.', and no dot at the beginning."
    )
  }

  private func alreadyOpen(_ name: String, in directory: String) -> StoreError {
    StoreError(
      .alreadyOpen,
      operation: "open",
      path: directory,
      message: "The store \"\(name)\" is open already.",
      hint: "Share the open store, or close it first."
    )
  }
}
