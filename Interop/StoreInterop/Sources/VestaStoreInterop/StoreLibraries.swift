/// The libraries that provide a store, as a message of `configure` names them.
///
/// ```swift
/// .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy)
/// ```
public enum StoreLibraries {
  /// The libraries, and what each keeps.
  public static let providedBy = """
    SQLiteLibrary of VestaSQLite (keeps everything in a file; Packages/SQLite) or MemoryStoreLibrary of \
    VestaMemoryStore (keeps nothing after the process; Packages/MemoryStore)
    """
}
