/// Connects a client to the emulator that its `useEmulator` names, instead of to the backend of its app.
///
/// The library of a remote backend provides it next to the backend. Without it, `useEmulator` is refused unless the
/// app's backend is that emulator anyway.
///
/// ```swift
/// let connection = try container.find(EmulatorConnection<any AuthBackend>.self)
/// let backend = try connection?.backend(at: EmulatorOrigin(host: "localhost", port: 9099))
/// ```
public struct EmulatorConnection<Backend: Sendable>: Sendable {
  private let connect: @Sendable (_ origin: String) throws -> Backend

  /// A connection.
  ///
  /// - Parameter connect: Makes the backend of an emulator at an origin; nothing is sent yet.
  public init(_ connect: @escaping @Sendable (_ origin: String) throws -> Backend) { self.connect = connect }

  /// The backend of an emulator.
  ///
  /// - Parameter origin: Where the emulator is.
  /// - Throws: `ServiceStatus` for a host that makes no address.
  public func backend(at origin: EmulatorOrigin) throws -> Backend { try connect(origin.text) }
}

/// The address that `useEmulator` names, as an origin.
///
/// ```swift
/// EmulatorOrigin(host: "::1", port: 9099).text                // http://[::1]:9099
/// EmulatorOrigin(host: "https://dev.example", port: 443).text // https://dev.example:443
/// ```
public struct EmulatorOrigin: Sendable, Hashable, CustomStringConvertible {
  /// The scheme, the host and the port; the host of an IPv6 address is in brackets.
  public let text: String

  /// An address.
  ///
  /// - Parameters:
  ///   - host: The host, with or without `http://` or `https://` before it; an IPv6 address in brackets or without.
  ///   - port: The port.
  public init(host: String, port: Int) {
    var (scheme, name) = ("http", host[...])
    for known in ["http", "https"] where name.hasPrefix("\(known)://") {
      (scheme, name) = (known, name.dropFirst(known.utf8.count + 3))
    }
    while name.hasSuffix("/") { name = name.dropLast() }
    let isBare = name.contains(":") && !name.hasPrefix("[")
    text = "\(scheme)://\(isBare ? "[\(name)]" : String(name)):\(port)"
  }

  /// The origin.
  public var description: String { text }
}
