/// The addresses of local emulators: one for all products, or one for each.
///
/// ```swift
/// let suite: EmulatorAddresses = ["auth": "localhost:9099", "firestore": "localhost:8080"]
/// let one = EmulatorAddresses(host: "localhost", port: 8080)
/// ```
///
/// Products are named as in `firebase.json`: `auth`, `firestore`, `database`, `storage`, `functions`, `remoteconfig`,
/// `messaging`, `installations`.
public struct EmulatorAddresses: Hashable, Sendable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  private var shared: String?
  private var products: [String: String] = [:]

  /// No addresses.
  public init() {}

  /// One address for all products.
  ///
  /// - Parameters:
  ///   - host: The host; an IPv6 address in brackets or without.
  ///   - port: The port.
  public init(host: String, port: Int) {
    shared = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Addresses such as `localhost:9099` by the names of products; of one product that is named twice the last one.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (product, address) in elements { products[product] = address }
  }

  /// The address of a product, such as `localhost:9099`; `nil` where there is none.
  ///
  /// - Parameter product: The name of the product.
  public subscript(product: String) -> String? {
    get { products[product] ?? shared }
    set { products[product] = newValue }
  }

  /// As in the environment variable `VESTA_BACKEND`.
  public var description: String {
    if let shared, products.isEmpty { return "emulator:\(shared)" }
    let all = (shared.map { [("*", $0)] } ?? []) + products.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    return "emulators:" + all.map { "\($0)=\($1)" }.joined(separator: ",")
  }

  /// Reads what ``description`` writes; `nil` when it is something else.
  init?(_ text: String) {
    if text.hasPrefix("emulator:") {
      shared = String(text.dropFirst("emulator:".count))
    } else if text.hasPrefix("emulators:") {
      for entry in text.dropFirst("emulators:".count).split(separator: ",", omittingEmptySubsequences: false) {
        let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        if parts[0] == "*" { shared = parts[1] } else { products[parts[0]] = parts[1] }
      }
    } else {
      return nil
    }
    guard ((shared.map { [$0] } ?? []) + products.values).allSatisfy(Self.isAddress) else { return nil }
  }

  /// The addresses that the emulators of Firebase's command line set in the environment of programs that they start.
  ///
  /// `FIREBASE_EMULATOR_HUB` is not read: the hub has to be asked over the network, options are read without waiting,
  /// and the command line sets the variable of each product next to that of the hub.
  init(environment: [String: String]) {
    for (product, variable) in Self.variables {
      if let address = environment[variable], Self.isAddress(address) { products[product] = address }
    }
  }

  /// Whether there is no address.
  var isEmpty: Bool { shared == nil && products.isEmpty }

  /// The environment variables that upstream's tools set.
  private static let variables = [
    "auth": "FIREBASE_AUTH_EMULATOR_HOST", "firestore": "FIRESTORE_EMULATOR_HOST",
    "database": "FIREBASE_DATABASE_EMULATOR_HOST", "storage": "FIREBASE_STORAGE_EMULATOR_HOST",
  ]

  /// Whether a text is a host and a port; the host may be an IPv6 address in brackets, so the port follows the last
  /// colon.
  private static func isAddress(_ text: String) -> Bool {
    guard let colon = text.lastIndex(of: ":"), colon != text.startIndex else { return false }
    return Int(text[colon...].dropFirst()).map { (1...65_535).contains($0) } ?? false
  }
}
