// swift-format-ignore: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
/// The version of Vesta that this program was built with.
///
/// - Returns: A semantic version such as "0.1.0".
public func VestaVersion() -> String { "0.1.0" }
