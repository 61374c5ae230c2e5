// Hex, Base64, CRC32C and JSON live on the ground floor; modules that import this seam see them too.
@_exported public import VestaBytes

/// A value in the header or the claims of a token.
public typealias JWTValue = JSONValue

/// The header or the claims of a token.
public typealias JWTObject = JSONObject
