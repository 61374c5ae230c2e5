import VestaFunctionsWire
public import VestaServiceInterop
import VestaTransportInterop

/// The addresses of functions that run in other programs, such as workers of Node; a server provides them as a
/// component of each project.
///
/// | key | requests for | go to |
/// |---|---|---|
/// | `greet` | this function, in every region | the address, and the rest of the path |
/// | `europe-west1/greet` | this function in this region | the same |
/// | `*` | every other function | the address, `/{project}/{region}/{name}`, and the rest of the path |
///
/// A function that is registered in the process precedes one of its name elsewhere.
public struct FunctionPlaces: Sendable, Hashable {
  private let addresses: [String: HTTPURL]

  /// Addresses.
  ///
  /// - Parameter addresses: URLs such as `http://127.0.0.1:9001/greet`, by name.
  /// - Throws: `INVALID_ARGUMENT` for what is no URL of HTTP, or has a query.
  public init(_ addresses: [String: String]) throws(ServiceStatus) {
    var urls: [String: HTTPURL] = [:]
    for (name, text) in addresses {
      guard let url = HTTPURL(text), url.scheme.hasPrefix("http"), !url.target.contains("?") else {
        throw ServiceStatus(
          .invalidArgument,
          "\"\(text)\" is no address of the function \(name). Write it like http://127.0.0.1:9001/\(name).")
      }
      urls[name] = url
    }
    self.addresses = urls
  }

  /// The server of a function, and the target at it; `nil` for a function that has no address.
  func place(of path: FunctionRequestPath) -> (url: HTTPURL, target: String)? {
    let function = path.function
    if let url = addresses["\(function.region)/\(function.name)"] ?? addresses[function.name] {
      return (url, Self.join(url.target, path.rest))
    }
    guard let url = addresses["*"] else { return nil }
    return (url, Self.join(Self.join(url.target, function.target), path.rest))
  }

  /// The server of all functions that have no address of theirs.
  var everywhere: HTTPURL? { addresses["*"] }

  static func join(_ base: String, _ rest: String) -> String {
    let base = base.hasSuffix("/") ? String(base.dropLast()) : base
    return base.isEmpty && !rest.hasPrefix("/") ? "/\(rest)" : base + rest
  }
}
