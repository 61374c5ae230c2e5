public import VestaCredentialInterop

/// A store that is held to its contract, and what a test can do to it from outside.
public struct CredentialStoreSubject: Sendable {
  /// The store, with nothing in it.
  public let store: any CredentialStore

  /// Opens another store on the same content, as the next run of the program does; `nil` for a store whose content ends
  /// with it.
  public let reopened: (@Sendable () throws -> any CredentialStore)?

  /// Damages the bytes under a key; `nil` where nothing can.
  public let damage: (@Sendable (_ key: String) throws -> Void)?

  /// Makes reading impossible, or possible again; `nil` where that cannot be arranged.
  public let setReadsFail: (@Sendable (Bool) throws -> Void)?

  /// Makes writing impossible, or possible again; `nil` where that cannot be arranged.
  public let setWritesFail: (@Sendable (Bool) throws -> Void)?

  /// Runs a save up to each of the points at which the process could end, and opens a store on what is there then;
  /// `nil` where that cannot be arranged.
  public let crashes: (@Sendable (_ bytes: [UInt8], _ key: String) throws -> [any CredentialStore])?

  /// A store to check.
  ///
  /// A parameter that is `nil` leaves the promises that need it unchecked.
  ///
  /// - Parameters:
  ///   - store: The store, with nothing in it.
  ///   - reopened: Opens another store on the same content.
  ///   - damage: Damages the bytes under a key.
  ///   - setReadsFail: Makes reading impossible, or possible again.
  ///   - setWritesFail: Makes writing impossible, or possible again.
  ///   - crashes: Gives the stores that are found after a crash at each point of a save.
  public init(
    _ store: any CredentialStore,
    reopened: (@Sendable () throws -> any CredentialStore)? = nil,
    damage: (@Sendable (_ key: String) throws -> Void)? = nil,
    setReadsFail: (@Sendable (Bool) throws -> Void)? = nil,
    setWritesFail: (@Sendable (Bool) throws -> Void)? = nil,
    crashes: (@Sendable (_ bytes: [UInt8], _ key: String) throws -> [any CredentialStore])? = nil
  ) {
    self.store = store
    self.reopened = reopened
    self.damage = damage
    self.setReadsFail = setReadsFail
    self.setWritesFail = setWritesFail
    self.crashes = crashes
  }
}
