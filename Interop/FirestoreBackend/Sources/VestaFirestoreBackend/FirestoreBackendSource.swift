/// Makes the backends of the addresses that a program names in addition to the options of its app, such as that of an
/// emulator.
///
/// Remote libraries provide one. A client finds none where the app's backend is an engine in the process.
public protocol FirestoreBackendSource: Sendable {
  /// The address that the app's options say: `https://firestore.googleapis.com`, `http://localhost:8080`.
  var origin: String { get }

  /// The backend at an address; the same one for the same address.
  ///
  /// - Parameter origin: The scheme, the host and the port.
  /// - Throws: `INVALID_ARGUMENT` for what is no address.
  func backend(at origin: String) throws(FirestoreServiceError) -> any FirestoreBackend
}
