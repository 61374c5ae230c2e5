import VestaBytes

/// The name of a function in a URL; pure.
enum FunctionName {
  /// The last component of a URL's path, without query and fragment; "" when there is none.
  static func last(ofURL url: String) -> String {
    let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let withoutScheme = String(Substring(path)).split(separator: "://", maxSplits: 1).last ?? ""
    let parts = withoutScheme.parts(at: "/", omittingEmpty: true)
    return parts.count > 1 ? String(parts[parts.count - 1]) : ""
  }
}
