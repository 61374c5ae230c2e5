/// Connects a client to the emulator that its `useEmulator` names, instead of to the backend of its app.
///
/// The library of a remote backend provides it next to the backend. Without it, `useEmulator` is refused unless the
/// app's backend is that emulator anyway.
///
/// ```swift
/// let connection = try container.find(EmulatorConnection<any AuthBackend>.self)
/// let backend = try connection?.backend(host: "localhost", port: 9099)
/// ```
public struct EmulatorConnection<Backend: Sendable>: Sendable {
  private let connect: @Sendable (_ host: String, _ port: Int) throws -> Backend

  /// A connection.
  ///
  /// - Parameter connect: Makes the backend of an emulator; nothing is sent yet.
  public init(_ connect: @escaping @Sendable (_ host: String, _ port: Int) throws -> Backend) { self.connect = connect }

  /// A connection by the origin of an emulator, such as `http://localhost:9099`.
  ///
  /// - Parameter connect: Makes the backend of an emulator; nothing is sent yet.
  public init(_ connect: @escaping @Sendable (_ origin: String) throws -> Backend) {
    self.init { host, port in
      let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
      return try connect("http://\(host):\(port)")
    }
  }

  /// The backend of an emulator.
  ///
  /// - Parameters:
  ///   - host: The host of the emulator.
  ///   - port: Its port.
  /// - Throws: `ServiceStatus` for a host that makes no address.
  public func backend(host: String, port: Int) throws -> Backend { try connect(host, port) }
}
